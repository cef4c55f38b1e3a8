<!-- How the path to a node is chosen. -->
<node name="path">
  <properties>
    <help>Choice of the path to a node</help>
  </properties>
  <children>
    <leafNode name="threshold">
      <properties>
        <help>Percentage by which a path must be better now to replace the one in use</help>
        <valueHelp>
          <format>u32:0-90</format>
          <description>Percentage of the latency of the path in use</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 0-90"/>
        </constraint>
        <constraintErrorMessage>Threshold must be between 0 and 90 percent</constraintErrorMessage>
      </properties>
      <defaultValue>10</defaultValue>
    </leafNode>
    <leafNode name="threshold-minimum">
      <properties>
        <help>Latency by which a path must be better at least to replace the one in use</help>
        #include <include/microseconds.xml.i>
      </properties>
      <defaultValue>2000</defaultValue>
    </leafNode>
    <leafNode name="noise-margin">
      <properties>
        <help>Share of what the paths vary anyway that a momentary gain must exceed</help>
        <valueHelp>
          <format>u32:0-1000</format>
          <description>Percentage of the variation of both paths</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 0-1000"/>
        </constraint>
        <constraintErrorMessage>Noise margin must be between 0 and 1000 percent</constraintErrorMessage>
      </properties>
      <defaultValue>60</defaultValue>
    </leafNode>
    <leafNode name="lasting-threshold">
      <properties>
        <help>Percentage by which a path must be better in the long run</help>
        <valueHelp>
          <format>u32:0-90</format>
          <description>Percentage of the lasting latency of the path in use</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 0-90"/>
        </constraint>
        <constraintErrorMessage>Lasting threshold must be between 0 and 90 percent</constraintErrorMessage>
      </properties>
      <defaultValue>5</defaultValue>
    </leafNode>
    <leafNode name="hold-time">
      <properties>
        <help>Time between a change of path and the next, failures apart</help>
        <valueHelp>
          <format>u32:0-3600</format>
          <description>Time in seconds</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 0-3600"/>
        </constraint>
        <constraintErrorMessage>Hold time must be between 0 and 3600 seconds</constraintErrorMessage>
      </properties>
      <defaultValue>10</defaultValue>
    </leafNode>
    <leafNode name="maximum-relays">
      <properties>
        <help>Maximum number of relays in a path</help>
        <valueHelp>
          <format>u32:0-3</format>
          <description>Number of relays, 0 for direct paths only</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 0-3"/>
        </constraint>
        <constraintErrorMessage>Number of relays must be between 0 and 3</constraintErrorMessage>
      </properties>
      <defaultValue>3</defaultValue>
    </leafNode>
    <leafNode name="relay-cost">
      <properties>
        <help>Latency that each relay counts for when paths are compared</help>
        #include <include/microseconds.xml.i>
      </properties>
      <defaultValue>500</defaultValue>
    </leafNode>
  </children>
</node>
