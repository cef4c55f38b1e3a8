#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Refuses unused includes. A header of LEON is used if the file names one of the declarations,
which ctags finds. A header of the system is used if the file matches the row in the table below.
Other headers are not judged. flake8 checks the imports of Python (python.py).

A file always includes its own header (fdb.h in fdb.c), because the header is the contract.
"""

import os
import re
import subprocess
import sys

import tree

# Header of the system -> pattern of the declared names.
SYSTEM = {
    'arpa/inet.h': r'inet_(?:pton|ntop|aton|ntoa)|[hn]to[nh][sl]',
    'assert.h': r'assert|static_assert',
    'ctype.h': r'(?:is|to)(?:alnum|alpha|digit|lower|upper|space|print|xdigit|cntrl|graph|punct)',
    'errno.h': r'errno|E[A-Z0-9]{2,}|program_invocation_short_name',
    'fcntl.h': r'O_[A-Z]+|fcntl|F_[A-Z]+|AT_[A-Z_]+|open|openat|splice|FD_CLOEXEC',
    'inttypes.h': r'(?:PRI|SCN)[diouxX]\w+|u?int(?:\d+|max|ptr)_t|strto[iu]max',
    'limits.h': r'(?:U?(?:CHAR|SHRT|INT|LONG|LLONG)_(?:MAX|MIN))|PATH_MAX|HOST_NAME_MAX|IOV_MAX|CHAR_BIT'
                r'|NAME_MAX|PIPE_BUF',
    'math.h': r'sqrt|exp|log|pow|fabs|floor|ceil|round|lround|llround|isnan|isfinite|NAN|INFINITY|fmax|fmin'
              r'|sin|cos|HUGE_VAL|exp2|log2|log10|M_PI|lrint|llrint|expm1|log1p|fmod|trunc|cbrt|hypot',
    'pthread.h': r'pthread_\w+',
    'poll.h': r'poll|ppoll|POLL[A-Z]+|struct pollfd',
    'sched.h': r'sched_\w+|SCHED_\w+|CPU_\w+|cpu_set_t|unshare|setns|CLONE_\w+',
    'signal.h': r'SIG\w+|sig\w+|kill|raise|struct sigaction',
    'stdarg.h': r'va_\w+',
    'stdbool.h': r'bool|true|false',
    'stddef.h': r'NULL|size_t|offsetof|ptrdiff_t|max_align_t',
    'stdint.h': r'u?int\w*_t|U?INT\w*_(?:MAX|MIN|C)|SIZE_MAX|UINTPTR_MAX',
    'stdio.h': r'f?printf|v?s?n?printf|vfprintf|FILE|std(?:in|out|err)|f(?:open|close|read|write|gets|puts|flush'
               r'|scanf|seek|tell|eof|error)|puts|putchar|perror|s?scanf|EOF|getline|rename|remove|fputc|dprintf'
               r'|fileno|open_memstream|setvbuf|getc|fgetc|fdopen|snprintf|vdprintf|fmemopen|BUFSIZ|setlinebuf'
               r'|rewind|ferror|feof|tmpfile|asprintf|vasprintf',
    'stdlib.h': r'malloc|calloc|realloc|free|exit|_Exit|abort|getenv|setenv|unsetenv|strto\w+|qsort|bsearch'
                r'|EXIT_\w+|mk[ds]temp|mkostemp|rand|srand|random|abs|labs|atexit|NULL|size_t|reallocarray'
                r'|posix_memalign|aligned_alloc|secure_getenv|llabs|system|drand48|realpath|srandom|clearenv',
    'string.h': r'mem(?:cpy|cmp|set|move|chr|mem|rchr)|str\w+|explicit_bzero|stpcpy|mempcpy',
    'strings.h': r'str(?:n?casecmp)|ffs|bzero|index',
    'sys/epoll.h': r'epoll_\w+|EPOLL\w+',
    'sys/eventfd.h': r'eventfd\w*|EFD_\w+',
    'sys/random.h': r'getrandom|GRND_\w+',
    'sys/stat.h': r'f?l?stat|fstatat|mkdir\w*|chmod|fchmod\w*|S_I\w+|umask|struct stat|mkfifo|mknod|futimens',
    'sys/un.h': r'sockaddr_un',
    'sys/wait.h': r'wait\w*|W[A-Z]+',
    'time.h': r'clock_\w+|CLOCK_\w+|time|time_t|struct tm|gmtime\w*|localtime\w*|strftime|nanosleep|struct timespec'
              r'|timespec|itimerspec|difftime|clock_t|tm|timegm|mktime',
    'unistd.h': r'read|write|close|unlink\w*|access|get(?:pid|uid|euid|gid|egid|ppid|opt)|usleep|sleep|fork|exec\w+'
                r'|_exit|pipe2?|dup[23]?|lseek|ftruncate|isatty|sysconf|_SC_\w+|gethostname|fsync|rmdir|chdir'
                r'|STD(?:IN|OUT|ERR)_FILENO|pread|pwrite|ssize_t|chown|fchown|alarm|environ|optarg|optind|symlink'
                r'|readlink|link|syscall|setuid|setgid|setresuid|setresgid|SEEK_\w+|getcwd|truncate|[RWXF]_OK'
                r'|faccessat|geteuid|setgroups|seteuid|pause|fdatasync|daemon|setsid|linkat|unlinkat|off_t|pid_t',
}
# Headers required before cmocka.h.
CMOCKA_NEEDS = {'stdarg.h', 'stddef.h', 'setjmp.h', 'stdint.h'}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.M)
OPAQUE = re.compile(r'\b(?:struct|enum|union) (\w+)')
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
# The kinds of ctags for a header, with prototypes and expansions of macros.
KINDS = '--kinds-c=+pxd-h'


def declared(headers):
    """{header: declared names}. An opaque type belongs to the header of the same name. If no
    header defines the type, the type belongs to each header that names the type."""
    text = subprocess.run(['ctags', '-f', '-', '--language-force=C', KINDS, '--fields=', '--extras=',
                           *headers], cwd=tree.TOP, check=True, stdout=subprocess.PIPE, text=True).stdout
    names = {header: set() for header in headers}
    for line in text.splitlines():
        name, path = line.split('\t')[:2]
        names[path].add(name)
    defined = set().union(*names.values())
    for header in headers:
        stem = os.path.splitext(os.path.basename(header))[0]
        named = set(OPAQUE.findall(tree.read(header)))
        names[header] |= {name for name in named if name == stem or name not in defined}
    return names


def resolve(path, name, headers):
    """The file of the tree for `#include "name"` in `path`, or None."""
    program = '/'.join(path.split('/')[:2])
    for folder in (os.path.dirname(path), program, tree.DATAPLANE, 'vyos-1x-leon', 'tests/sim', 'tests/unit'):
        found = os.path.normpath(os.path.join(folder, name))
        if found in headers:
            return found
    return None


def with_lists(text):
    """The text with all included lists (.def), because the lines are code of the file."""
    for _, name in INCLUDE.findall(text):
        list_file = os.path.join(tree.DATAPLANE, name)
        if name.endswith('.def') and os.path.exists(os.path.join(tree.TOP, list_file)):
            text += tree.read(list_file)
    return text


def unused(path, text, headers):
    code = INCLUDE.sub('', NO_CODE.sub('', with_lists(text)))
    words = set(re.findall(r'\w+', code))
    own = os.path.splitext(os.path.basename(path))[0] + '.h'
    needed = CMOCKA_NEEDS if '<cmocka.h>' in text else set()
    for sign, name in INCLUDE.findall(text):
        if os.path.basename(name) == own or name in needed:
            continue
        if sign == '<':
            used = name not in SYSTEM or re.search(rf'\b(?:{SYSTEM[name]})\b', code)
        else:
            header = resolve(path, name, headers)
            used = header is None or not headers[header] or headers[header] & words
        if not used:
            yield name


def main():
    names = declared(tree.files('.h'))
    problems = []
    for path in tree.files('.c', '.h'):
        problems += [f'{path}: nothing of {name} is used' for name in unused(path, tree.read(path), names)]
    return tree.report(problems)


if __name__ == '__main__':
    sys.exit(main())
