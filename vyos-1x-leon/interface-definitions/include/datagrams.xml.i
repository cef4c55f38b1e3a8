<!-- Header fields and mark of the datagrams that LEON itself sends. -->
<node name="dscp">
  <properties>
    <help>DSCP of the datagrams of LEON, the DSCP of "parameters" if not set</help>
  </properties>
  <children>
    <leafNode name="control">
      <properties>
        <help>DSCP of control datagrams and probes</help>
        <completionHelp>
          <list>default cs1 cs2 cs3 cs4 cs5 cs6 cs7 af11 af12 af13 af21 af22 af23 af31 af32 af33 af41 af42 af43 va ef</list>
        </completionHelp>
        <valueHelp>
          <format>u32:0-63</format>
          <description>DSCP value</description>
        </valueHelp>
        <valueHelp>
          <format>txt</format>
          <description>Name such as ef, cs6 or af41</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 0-63"/>
          <regex>(default|cs[1-7]|af[1-4][1-3]|va|ef)</regex>
        </constraint>
        <constraintErrorMessage>DSCP must be a number between 0 and 63 or a name such as ef, cs6 or af41</constraintErrorMessage>
      </properties>
    </leafNode>
    #leaves <dscp>
    <leafNode name="set">
      <properties>
        <help>DSCP of all datagrams with frames</help>
        <completionHelp>
          <list>default cs1 cs2 cs3 cs4 cs5 cs6 cs7 af11 af12 af13 af21 af22 af23 af31 af32 af33 af41 af42 af43 va ef</list>
        </completionHelp>
        <valueHelp>
          <format>u32:0-63</format>
          <description>DSCP value</description>
        </valueHelp>
        <valueHelp>
          <format>txt</format>
          <description>Name such as ef, cs6 or af41</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 0-63"/>
          <regex>(default|cs[1-7]|af[1-4][1-3]|va|ef)</regex>
        </constraint>
        <constraintErrorMessage>DSCP must be a number between 0 and 63 or a name such as ef, cs6 or af41</constraintErrorMessage>
      </properties>
    </leafNode>
  </children>
</node>
<node name="ecn">
  <properties>
    <help>Explicit Congestion Notification (ECN) in the datagrams that LEON sends</help>
  </properties>
  <children>
    #leaves <ecn>
  </children>
</node>
<node name="parameters">
  <properties>
    <help>Header fields of the datagrams that LEON sends</help>
  </properties>
  <children>
    <node name="ip">
      <properties>
        <help>IPv4 header</help>
      </properties>
      <children>
        #leaves <parameters ip>
      </children>
    </node>
    <node name="ipv6">
      <properties>
        <help>IPv6 header</help>
      </properties>
      <children>
        #leaves <parameters ipv6>
      </children>
    </node>
  </children>
</node>
