/** Several recordings in one trace: each event once, and spans that nest. */

import type { TraceEvent, TraceFile } from "./chrome.ts";

/**
 * The same for all that recordings of one thread, which may overlap, have of one moment or span. Not its end: where a
 * recording ends before a span does, the span is cut there.
 */
function identity({ ph, pid, tid, ts, id, name }: TraceEvent): string {
  return [ph, pid, tid, ph === "e" ? "" : ts, id, name].join(" ");
}

const isCut = ({ args }: TraceEvent): boolean => args["open"] === true;
const endOf = ({ ts, dur }: TraceEvent): number => ts + (dur ?? 0);

/** Whether `one` tells more of what `other` is too: it is whole, or was cut later. */
function tellsMore(one: TraceEvent, other: TraceEvent): boolean {
  if (isCut(one) !== isCut(other)) return isCut(other);
  return endOf(one) > endOf(other);
}

/** Of events that several writers have, the one that tells most. Metadata is each writer's own. */
function once(lists: Map<string, readonly TraceEvent[]>): Map<string, TraceEvent[]> {
  const best = new Map<string, { event: TraceEvent; writer: string }>();
  for (const [writer, events] of lists) {
    for (const event of events) {
      const known = best.get(identity(event));
      if (known === undefined || (known.writer !== writer && tellsMore(event, known.event)))
        best.set(identity(event), { event, writer });
    }
  }
  const keeps = (writer: string, event: TraceEvent): boolean => {
    if (event.ph === "M") return true;
    // The two ends of a promise's span stay together: the later end decides.
    return best.get(identity(event.ph === "b" ? { ...event, ph: "e" } : event))!.writer === writer;
  };
  return new Map([...lists].map(([writer, events]) => [writer, events.filter((event) => keeps(writer, event))]));
}

/**
 * Lets a span that was cut last as long as what another recording has of its inside: it was still open then. The spans
 * of one thread.
 */
function stretched(events: readonly TraceEvent[]): Map<TraceEvent, TraceEvent> {
  const spans = events.filter(({ ph }) => ph === "X").toSorted((a, b) => a.ts - b.ts || endOf(b) - endOf(a));
  const longer = new Map<TraceEvent, TraceEvent>();
  const open: TraceEvent[] = [];
  for (const span of spans) {
    // In doubles a span may seem to begin a breath before the one before it ends.
    while (open.length > 0 && endOf(open.at(-1)!) <= span.ts + 1e-4) open.pop();
    for (const around of open) {
      const known = longer.get(around) ?? around;
      if (isCut(around) && endOf(known) < endOf(span)) longer.set(around, { ...around, dur: endOf(span) - around.ts });
    }
    open.push(span);
  }
  return longer;
}

/** Replaces what a writer has in a trace. */
export function put(file: TraceFile, id: string, events: readonly TraceEvent[]): void {
  const lists = new Map<string, readonly TraceEvent[]>();
  for (const writer of file.otherData.writers) {
    if (writer.id !== id) lists.set(writer.id, file.traceEvents.slice(writer.from, writer.from + writer.count));
  }
  lists.set(id, events);
  const { pid, tid } = events[0]!;
  const ownThread = (event: TraceEvent): boolean => event.pid === pid && event.tid === tid;
  // What is only one recording's needs nothing, and that is nearly always so.
  const overlapping = [...lists].filter(([, [first]]) => first !== undefined && ownThread(first));
  if (overlapping.length > 1) {
    const merged = once(new Map(overlapping));
    const longer = stretched([...merged.values()].flat());
    for (const [writer, list] of merged) {
      lists.set(
        writer,
        list.map((event) => longer.get(event) ?? event),
      );
    }
  }
  file.traceEvents = [...lists.values()].flat();
  let from = 0;
  file.otherData.writers = [...lists].map(([writer, { length }]) => {
    from += length;
    return { id: writer, from: from - length, count: length };
  });
}
