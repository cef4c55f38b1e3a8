<!-- A port, or a range of them. -->
<valueHelp>
  <format>u32:1-65535</format>
  <description>Port number</description>
</valueHelp>
<valueHelp>
  <format>range</format>
  <description>Range of ports such as 8000-8080</description>
</valueHelp>
<constraint>
  <validator name="numeric" argument="--allow-range --range 1-65535"/>
</constraint>
<constraintErrorMessage>Port must be a number between 1 and 65535 or a range such as 8000-8080</constraintErrorMessage>
