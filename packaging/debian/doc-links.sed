# Links of the source tree become links between the document directories of the packages.
# SPDX-License-Identifier: GPL-2.0-or-later
s,](vyos-1x-leon/doc/,](,g
s,](\(\(decisions/\)\{0\,1\}[a-z0-9-]*\.md\),](../leond/\1,g
s,](../leond/\(vyos[a-z-]*\.md\),](../vyos-1x-leon/\1,g
s,](../leond/\(acceleration\.md\),](../leon-accel/\1,g
s,](../leond/\(cloud\.md\),](../leon-cloud/\1,g
s,](../leond/\(sclp\.md\),](../leon-sclp/\1,g
s,](../leond/\(lisp\.md\),](../vyos-1x-leon-lisp/\1,g
