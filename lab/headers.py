#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print the names that headers of kprobes declare, from the output of "gcc -E -dD".

Only declarations in a file called kprobes.h or kprobes-*.h count.  A line is one of

	function NAME/PARAMETERS	also a macro with parameters
	name NAME			a macro without parameters, a variable, a type
	field STRUCT.NAME
"""
import re
import sys

OWN = re.compile(r'(^|/)kprobes(-\w+)?\.h$')
WORD = r'[A-Za-z_]\w*'


def split(lines):
    """Return the macros of those files, and all of their other text as one string."""
    own, text, macros = False, [], {}
    for line in lines:
        mark = re.match(r'# \d+ "([^"]*)"', line)
        if mark:
            own = bool(OWN.search(mark.group(1)))
            continue
        if not own:
            continue
        macro = re.match(r'#(define|undef) (%s)(\(([^)]*)\))?' % WORD, line)
        if macro:
            if macro.group(1) == 'undef':
                macros.pop(macro.group(2), None)
            else:
                macros[macro.group(2)] = macro.group(4)
        elif not line.startswith('#'):
            text.append(line)
    return macros, ' '.join(text)


def without_attributes(text):
    """Remove __attribute__((...)) and similar text, which may nest."""
    out, i = [], 0
    starts = re.compile(r'\b(__attribute__|__attribute|_Static_assert|__asm__|asm)\s*\(')
    while True:
        found = starts.search(text, i)
        if not found:
            return ''.join(out) + text[i:]
        out.append(text[i:found.start()])
        i, depth = found.end(), 1
        while depth:
            depth += {'(': 1, ')': -1}.get(text[i], 0)
            i += 1


def declarations(text):
    """Yield (head, body) of each declaration; body is None if it has no braces."""
    depth, head, body = 0, '', ''
    for char in text:
        if char == '{':
            depth += 1
            if depth == 1:
                continue
        if char == '}':
            depth -= 1
            if not depth:
                if not re.match(r'\s*(struct|union|enum)\b[^(]*$', head):
                    yield head, None
                    head = body = ''
                continue
        if depth:
            body += char
        elif char == ';':
            yield head, body or None
            head = body = ''
        else:
            head += char


def fields(body):
    """Yield the names of the fields of a struct, including those of nested structs."""
    for part in re.split(r'[;{}]', body):
        pointer = re.search(r'\(\s*\*\s*(%s)\s*\)' % WORD, part)
        if pointer:
            yield pointer.group(1)
            continue
        part = re.sub(r'\[[^]]*\]|:\s*\w+', '', part)
        for field in part.split(','):
            words = re.findall(WORD, field)
            if words and not re.match(r'\s*(struct|union)\s*\w*\s*$', field):
                yield words[-1]


def parameters(text):
    """Return the number of parameters in the text between two parentheses."""
    text = text.strip()
    if text in ('', 'void'):
        return 0
    depth, count = 0, 1
    for char in text:
        depth += {'(': 1, ')': -1}.get(char, 0)
        count += char == ',' and not depth
    return count


def main():
    macros, text = split(line.rstrip('\n') for line in sys.stdin)
    found = set()
    for name, args in macros.items():
        if re.match(r'_\w*_H$', name):
            continue
        if args is None:
            found.add('name %s' % name)
        else:
            found.add('function %s/%d' % (name, parameters(args)))
    for head, body in declarations(without_attributes(text)):
        struct = re.match(r'\s*(struct|union|enum)\s+(%s)\s*$' % WORD, head)
        function = re.search(r'(%s)\s*\((.*)\)\s*$' % WORD, head, re.S)
        if struct and body is not None:
            found.add('name %s' % struct.group(2))
            if struct.group(1) == 'enum':
                found.update('name %s' % word for word in re.findall(r'(?:^|,)\s*(%s)' % WORD, body))
            else:
                found.update('field %s.%s' % (struct.group(2), field) for field in fields(body))
        elif struct:
            continue
        elif function and not re.match(r'\s*typedef\b', head):
            start = head.index('(', head.index(function.group(1)))
            found.add('function %s/%d' % (function.group(1), parameters(head[start + 1:head.rindex(')')])))
        elif re.match(r'\s*typedef\b', head):
            pointer = re.search(r'\(\s*\*?\s*(%s)\s*\)\s*\(' % WORD, head)
            words = re.findall(WORD, head)
            found.add('name %s' % (pointer.group(1) if pointer else words[-1]))
        else:
            words = re.findall(WORD, re.sub(r'\[[^]]*\]|=.*', '', head, flags=re.S))
            if words:
                found.add('name %s' % words[-1])
    print('\n'.join(sorted(found)))


main()
