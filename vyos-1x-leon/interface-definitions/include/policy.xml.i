<!-- Which frames are critical, and what is done for them. -->
<node name="policy">
  <properties>
    <help>Treatment of certain frames</help>
  </properties>
  <children>
    <node name="critical">
      <properties>
        <help>Frames that must be neither delayed nor lost, selected by any of these</help>
      </properties>
      <children>
        <leafNode name="dscp">
          <properties>
            <help>Frames of this DSCP, of IPv4 and IPv6</help>
            <completionHelp>
              <list>default cs1 cs2 cs3 cs4 cs5 cs6 cs7 af11 af12 af13 af21 af22 af23 af31 af32 af33 af41 af42 af43 va ef</list>
            </completionHelp>
            <valueHelp>
              <format>u32:0-63</format>
              <description>DSCP value</description>
            </valueHelp>
            <valueHelp>
              <format>txt</format>
              <description>Name such as ef, cs5 or af41</description>
            </valueHelp>
            <constraint>
              <validator name="numeric" argument="--range 0-63"/>
              <regex>(default|cs[1-7]|af[1-4][1-3]|va|ef)</regex>
            </constraint>
            <constraintErrorMessage>DSCP must be a number between 0 and 63 or a name such as ef, cs5 or af41</constraintErrorMessage>
            <multi/>
          </properties>
        </leafNode>
        <node name="duplicate">
          <properties>
            <help>Send critical frames along two disjoint paths, the receiver keeps the first copy</help>
          </properties>
          <children>
            #leaves <policy critical duplicate>
          </children>
        </node>
        <leafNode name="ethertype">
          <properties>
            <help>Frames of this EtherType</help>
            <valueHelp>
              <format>txt</format>
              <description>0x and four hexadecimal digits, such as 0x88b8</description>
            </valueHelp>
            <constraint>
              <regex>0x(0[6-9a-fA-F]|[1-9a-fA-F][0-9a-fA-F])[0-9a-fA-F]{2}</regex>
            </constraint>
            <constraintErrorMessage>EtherType must be between 0x0600 and 0xffff, such as 0x88b8</constraintErrorMessage>
            <multi/>
          </properties>
        </leafNode>
        <leafNode name="mac">
          <properties>
            <help>Frames from or to this MAC address</help>
            <valueHelp>
              <format>macaddr</format>
              <description>MAC address</description>
            </valueHelp>
            <constraint>
              <validator name="mac-address"/>
            </constraint>
            <constraintErrorMessage>MAC address must have six pairs of hexadecimal digits such as 02:00:00:00:00:01</constraintErrorMessage>
            <multi/>
          </properties>
        </leafNode>
        <node name="parity">
          <properties>
            <help>Send parities along a second path while frames are lost, the receiver restores frames</help>
          </properties>
          <children>
            #leaves <policy critical parity>
          </children>
        </node>
        <tagNode name="protocol">
          <properties>
            <help>Frames of this protocol above IP</help>
            <completionHelp>
              <list>tcp udp sctp dccp udplite icmp ipv6-icmp gre esp ah ospf vrrp</list>
            </completionHelp>
            <valueHelp>
              <format>txt</format>
              <description>Name of the protocol</description>
            </valueHelp>
            <valueHelp>
              <format>u32:1-255</format>
              <description>Number of the protocol</description>
            </valueHelp>
            <constraint>
              <regex>(tcp|udp|sctp|dccp|udplite|icmp|ipv6-icmp|gre|esp|ah|ospf|vrrp)</regex>
              <validator name="numeric" argument="--range 1-255"/>
            </constraint>
            <constraintErrorMessage>Protocol must be tcp, udp, sctp, dccp, udplite, icmp, ipv6-icmp, gre, esp, ah, ospf, vrrp or a number between 1 and 255</constraintErrorMessage>
          </properties>
          <children>
            <leafNode name="port">
              <properties>
                <help>Frames from or to this port only, all frames of the protocol if not set</help>
                <valueHelp>
                  <format>u32:1-65535</format>
                  <description>Port of either end</description>
                </valueHelp>
                <constraint>
                  <validator name="numeric" argument="--range 1-65535"/>
                </constraint>
                <constraintErrorMessage>Port must be between 1 and 65535</constraintErrorMessage>
                <multi/>
              </properties>
            </leafNode>
          </children>
        </tagNode>
        <leafNode name="vlan">
          <properties>
            <help>Frames of this VLAN</help>
            <valueHelp>
              <format>u32:1-4094</format>
              <description>VLAN identifier</description>
            </valueHelp>
            <constraint>
              <validator name="numeric" argument="--range 1-4094"/>
            </constraint>
            <constraintErrorMessage>VLAN must be between 1 and 4094</constraintErrorMessage>
            <multi/>
          </properties>
        </leafNode>
      </children>
    </node>
  </children>
</node>
