// `bun run parity FILE.jsonl.gz [--live PYTHON] [--files DIR] [--json OUT] [--kinds a,b] [--names prefix,prefix]`: runs
// a file of differential cases (test/parity/format.ts) against the library, or with --live against the MLX that is
// installed for a Python, and reports passed, failed and unsupported by kind and name. The exit code is 0 when every
// selected case passed.
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { formatReport, makeReport } from "../test/parity/report.ts";
import { runParity } from "../test/parity/runner.ts";

const { values, positionals } = parseArgs({
  args: Bun.argv.slice(2),
  allowPositionals: true,
  options: {
    files: { type: "string" },
    json: { type: "string" },
    kinds: { type: "string" },
    names: { type: "string" },
    live: { type: "string" },
    "case-timeout": { type: "string", default: "30" },
  },
});

const file = positionals[0];
if (file === undefined || positionals.length > 1) {
  console.error(
    "usage: bun run parity FILE.jsonl.gz [--live PYTHON] [--files DIR] [--json OUT] [--kinds a,b] [--names prefix,prefix] [--case-timeout SECONDS]",
  );
  process.exit(2);
}
if (!(await Bun.file(file).exists())) {
  console.error(`${file} does not exist`);
  process.exit(2);
}
const run = await runParity(file, {
  files: values.files ?? join(dirname(file), "files"),
  caseTimeout: Number(values["case-timeout"]),
  ...(values.live === undefined
    ? {}
    : { program: values.live, child: join(import.meta.dir, "../test/parity/live.py") }),
  ...(values.kinds === undefined ? {} : { kinds: values.kinds.split(",") }),
  ...(values.names === undefined ? {} : { names: values.names.split(",") }),
});
const report = makeReport(run);
if (values.live !== undefined)
  console.log(`Python MLX beside the cases: a failure is a case that Python disagrees with\n`);
console.log(formatReport(report));
if (values.json !== undefined) await Bun.write(values.json, `${JSON.stringify(report, null, 1)}\n`);
process.exit(report.total.cases > 0 && report.total.passed === report.total.cases ? 0 : 1);
