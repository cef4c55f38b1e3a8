<!-- A latency that takes part in the comparison of paths. -->
<valueHelp>
  <format>u32:0-10000000</format>
  <description>Latency in microseconds</description>
</valueHelp>
<constraint>
  <validator name="numeric" argument="--range 0-10000000"/>
</constraint>
<constraintErrorMessage>Latency must be between 0 and 10000000 microseconds</constraintErrorMessage>
