"""A second reading of the headers, by libclang: prints what it sees as JSON, for a test to compare with codegen.

usage: python read.py MLX_C_FOLDER SHIM_FOLDER          (PYTHONPATH must hold the libclang package)

It knows nothing of codegen's rules. From clang's canonical types alone it works out which registers each argument
takes, on each platform's ABI.
"""

import json
import os
import sys
import tempfile

from clang.cindex import CursorKind, Diagnostic, Index, TypeKind

# name -> compiler arguments. __bf16 needs its feature said on a plain aarch64.
TARGETS = {
    "linux-x64": ["-target", "x86_64-linux-gnu"],
    "linux-arm64": ["-target", "aarch64-linux-gnu", "-march=armv8.2-a+fp16+bf16"],
    "darwin-arm64": ["-target", "arm64-apple-macos14"],
}

# The wheel carries no C library headers, and a machine need not have arm64's: these hold what the headers ask for.
C_LIBRARY = {
    "stdbool.h": "#define bool _Bool\n#define true 1\n#define false 0\n",
    "stddef.h": "#pragma once\ntypedef __SIZE_TYPE__ size_t;\n",
    "stdlib.h": "#include <stddef.h>\n",
    "stdio.h": "#pragma once\n#include <stddef.h>\ntypedef struct mlxts_file FILE;\n",
    "float.h": "",
    "complex.h": "",
    "arm_fp16.h": "",
    "arm_bf16.h": "",
    "stdint.h": "#pragma once\n"
    + "".join(
        f"typedef __{sign}INT{bits}_TYPE__ {sign.lower()}int{bits}_t;\n" for bits in (8, 16, 32, 64) for sign in ("", "U")
    )
    + "typedef __UINTPTR_TYPE__ uintptr_t;\n",
}

BY_KIND = {
    TypeKind.POINTER: "pointer",
    TypeKind.BOOL: "bool",
    TypeKind.FLOAT: "float",
    TypeKind.DOUBLE: "double",
    TypeKind.VOID: "void",
}
SIGNED = {TypeKind.SCHAR, TypeKind.SHORT, TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG}
UNSIGNED = {TypeKind.UCHAR, TypeKind.USHORT, TypeKind.UINT, TypeKind.ULONG, TypeKind.ULONGLONG}
FLOATS = {TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.HALF}


def fields_of(canonical):
    return [(f.spelling, f.type.spelling, canonical.get_offset(f.spelling)) for f in canonical.get_fields()]


def registers(ctype):
    """The registers of a value: ["pointer"], ["signed32"], ["unsigned64"], ["bool"], ["word", "word"], ["memory"], ..."""
    canonical = ctype.get_canonical()
    if canonical.kind in BY_KIND:
        return [BY_KIND[canonical.kind]]
    if canonical.kind == TypeKind.ENUM:
        # Without negative members clang takes an unsigned int; all that matters to a call is its width.
        return [f"enum{canonical.get_size() * 8}"]
    if canonical.kind in SIGNED:
        return [f"signed{canonical.get_size() * 8}"]
    if canonical.kind in UNSIGNED:
        return [f"unsigned{canonical.get_size() * 8}"]
    if canonical.kind == TypeKind.RECORD:
        size = canonical.get_size()
        all_floats = all(f.type.get_canonical().kind in FLOATS for f in canonical.get_fields())
        # Both ABIs pass a record of up to 16 bytes in integer registers, unless it is made of floats alone (arm64), or
        # one of its eight-byte halves is (x86-64); a half that mixes them goes where integers go.
        if size > 16 or all_floats:
            return ["memory"]
        halves = {}
        for f in canonical.get_fields():
            is_float = f.type.get_canonical().kind in FLOATS
            halves.setdefault(canonical.get_offset(f.spelling) // 64, set()).add(is_float)
        if any(kinds == {True} for kinds in halves.values()):
            return ["memory"]
        return ["word"] * ((size + 7) // 8)
    return [f"unknown {canonical.kind}"]


def read(folders, library, arguments):
    includes = [f"-I{folder}" for folder in folders]
    options = ["-x", "c", "-std=c11", "-nostdinc", "-isystem", library, *includes, *arguments]
    text = '#include "mlx/c/mlx.h"\n#include "mlxts.h"\n'
    unit = Index.create().parse("all.c", args=options, unsaved_files=[("all.c", text)])
    problems = [str(d) for d in unit.diagnostics if d.severity >= Diagnostic.Error]
    if problems:
        sys.exit("libclang cannot read the headers:\n" + "\n".join(problems))
    functions, enums, structs = {}, {}, {}
    for cursor in unit.cursor.get_children():
        location = cursor.location.file
        if location is None or not location.name.startswith(folders):
            continue
        if cursor.kind == CursorKind.FUNCTION_DECL:
            ctype = cursor.type
            functions[cursor.spelling] = {
                "header": os.path.basename(location.name),
                "line": cursor.extent.start.line,
                "variadic": ctype.kind == TypeKind.FUNCTIONPROTO and ctype.is_function_variadic(),
                "names": [a.spelling for a in cursor.get_arguments()],
                "types": [a.type.spelling for a in cursor.get_arguments()],
                "registers": [registers(a.type) for a in cursor.get_arguments()],
                "returns": cursor.result_type.spelling,
                "returnRegisters": registers(cursor.result_type),
            }
        elif cursor.kind == CursorKind.TYPEDEF_DECL:
            canonical = cursor.underlying_typedef_type.get_canonical()
            declaration = canonical.get_declaration()
            if canonical.kind == TypeKind.ENUM:
                enums[cursor.spelling] = {c.spelling: c.enum_value for c in declaration.get_children()}
            elif canonical.kind == TypeKind.RECORD:
                structs[cursor.spelling] = {"size": canonical.get_size(), "fields": fields_of(canonical)}
    return {"functions": functions, "enums": enums, "structs": structs}


def main():
    folders = tuple(os.path.realpath(folder) for folder in sys.argv[1:])
    with tempfile.TemporaryDirectory() as library:
        for name, text in C_LIBRARY.items():
            with open(os.path.join(library, name), "w", encoding="utf-8") as file:
                file.write(text)
        json.dump({name: read(folders, library, arguments) for name, arguments in TARGETS.items()}, sys.stdout)


main()
