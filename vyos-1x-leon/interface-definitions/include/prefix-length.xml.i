<!-- Length of a prefix of either family. -->
<valueHelp>
  <format>u32:0-128</format>
  <description>Number of bits</description>
</valueHelp>
<constraint>
  <validator name="numeric" argument="--range 0-128"/>
</constraint>
<constraintErrorMessage>Length must be between 0 and 128 bits</constraintErrorMessage>
