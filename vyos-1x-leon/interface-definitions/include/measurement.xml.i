<!-- How links are measured. -->
<node name="measurement">
  <properties>
    <help>Measurement of the links to other nodes</help>
  </properties>
  <children>
    <leafNode name="interval">
      <properties>
        <help>Interval between probes of an idle link</help>
        #include <include/milliseconds.xml.i>
      </properties>
      <defaultValue>1000</defaultValue>
    </leafNode>
    <leafNode name="fast-interval">
      <properties>
        <help>Interval between probes of a link that carries traffic</help>
        <valueHelp>
          <format>u32:20-60000</format>
          <description>Interval in milliseconds, not above that of an idle link</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 20-60000"/>
        </constraint>
        <constraintErrorMessage>Interval must be between 20 and 60000 milliseconds</constraintErrorMessage>
      </properties>
      <defaultValue>100</defaultValue>
    </leafNode>
    <leafNode name="dead-multiplier">
      <properties>
        <help>Unanswered probes after which paths leave a link</help>
        <valueHelp>
          <format>u32:2-20</format>
          <description>Number of probes</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 2-20"/>
        </constraint>
        <constraintErrorMessage>Number of probes must be between 2 and 20</constraintErrorMessage>
      </properties>
      <defaultValue>3</defaultValue>
    </leafNode>
    <leafNode name="lasting-time">
      <properties>
        <help>Time over which the latency of a link in the long run is taken</help>
        <valueHelp>
          <format>u32:60-86400</format>
          <description>Time in seconds</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 60-86400"/>
        </constraint>
        <constraintErrorMessage>Lasting time must be between 60 and 86400 seconds</constraintErrorMessage>
      </properties>
      <defaultValue>1800</defaultValue>
    </leafNode>
  </children>
</node>
