<!-- UDP port of this node or of a peer; the user of this file says which in its help. -->
<valueHelp>
  <format>u32:1-65535</format>
  <description>UDP port number</description>
</valueHelp>
<constraint>
  <validator name="numeric" argument="--range 1-65535"/>
</constraint>
<constraintErrorMessage>Port must be between 1 and 65535</constraintErrorMessage>
