<!-- Time between two probes or two guard frames. -->
<valueHelp>
  <format>u32:100-60000</format>
  <description>Interval in milliseconds</description>
</valueHelp>
<constraint>
  <validator name="numeric" argument="--range 100-60000"/>
</constraint>
<constraintErrorMessage>Interval must be between 100 and 60000 milliseconds</constraintErrorMessage>
