# Converts links of the source tree to links between the document directories of the packages.
# SPDX-License-Identifier: GPL-2.0-or-later
# A link to a document that is in no package becomes plain text.
s,\[CONTRIBUTING\.md\]([^)]*),CONTRIBUTING.md of the source,g
s,\[vyos-1x-leon/doc/README\.md\]([^)]*),vyos-1x-leon/doc/README.md of the source,g
s,\[\([^]]*\)\](\(\.\./\.\./\)\{0\,1\}\(packaging/[^)]*\)),\1 (\3 of the source),g
s,](\(\.\./\.\./\)\{0\,1\}\(CHANGELOG\|README\)\.md,](../leond/\2.md,g
s,](vyos-1x-leon/doc/,](,g
s,](\(\(decisions/\)\{0\,1\}[a-z0-9-]*\.md\),](../leond/\1,g
s,](../leond/\(vyos[a-z-]*\.md\),](../vyos-1x-leon/\1,g
s,](../leond/\(acceleration\.md\),](../leon-accel/\1,g
s,](../leond/\(cloud\.md\),](../leon-cloud/\1,g
s,](../leond/\(sclp\.md\),](../leon-sclp/\1,g
s,](../leond/\(lisp\.md\),](../vyos-1x-leon-lisp/\1,g
