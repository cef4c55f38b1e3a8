<!-- A limit of storm control. -->
<valueHelp>
  <format>u32:0-4294967295</format>
  <description>Frames per second, 0 for no limit</description>
</valueHelp>
<constraint>
  <validator name="numeric" argument="--range 0-4294967295"/>
</constraint>
<constraintErrorMessage>Limit must be between 0 and 4294967295 frames per second</constraintErrorMessage>
