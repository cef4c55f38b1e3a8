<!-- The words of `vpn ipsec site-to-site peer`; groups are those of `vpn ipsec`. -->
<node name="ipsec">
  <properties>
    <help>IPsec around each link to another node</help>
  </properties>
  <children>
    <node name="authentication">
      <properties>
        <help>Authentication of nodes by IKE</help>
      </properties>
      <children>
        <leafNode name="local-id">
          <properties>
            <help>Identity of this node, the subject of its certificate if not set</help>
            <valueHelp>
              <format>txt</format>
              <description>Identity</description>
            </valueHelp>
          </properties>
        </leafNode>
        <leafNode name="mode">
          <properties>
            <help>Authentication mode</help>
            <completionHelp>
              <list>pre-shared-secret x509</list>
            </completionHelp>
            <valueHelp>
              <format>pre-shared-secret</format>
              <description>Secret that all nodes share</description>
            </valueHelp>
            <valueHelp>
              <format>x509</format>
              <description>Certificates</description>
            </valueHelp>
            <constraint>
              <regex>(pre-shared-secret|x509)</regex>
            </constraint>
            <constraintErrorMessage>Authentication mode must be pre-shared-secret or x509</constraintErrorMessage>
          </properties>
          <defaultValue>pre-shared-secret</defaultValue>
        </leafNode>
        <leafNode name="pre-shared-secret">
          <properties>
            <help>Secret of IKE that all nodes share</help>
            <valueHelp>
              <format>txt</format>
              <description>8 to 128 ASCII characters without spaces</description>
            </valueHelp>
            <constraint>
              <regex>[!-~]{8,128}</regex>
            </constraint>
            <constraintErrorMessage>Secret must have 8 to 128 ASCII characters without spaces</constraintErrorMessage>
          </properties>
        </leafNode>
        <leafNode name="remote-id">
          <properties>
            <help>Pattern of the identities of other nodes, any identity of the authority if not set</help>
            <valueHelp>
              <format>txt</format>
              <description>Identity, * stands for anything</description>
            </valueHelp>
          </properties>
        </leafNode>
        <node name="x509">
          <properties>
            <help>Certificates</help>
          </properties>
          <children>
            <leafNode name="ca-certificate">
              <properties>
                <help>Authority that signed the certificates of all nodes</help>
                <completionHelp>
                  <path>pki ca</path>
                </completionHelp>
                <valueHelp>
                  <format>txt</format>
                  <description>Name in the PKI configuration</description>
                </valueHelp>
                <multi/>
              </properties>
            </leafNode>
            <leafNode name="certificate">
              <properties>
                <help>Certificate of this node</help>
                <completionHelp>
                  <path>pki certificate</path>
                </completionHelp>
                <valueHelp>
                  <format>txt</format>
                  <description>Name in the PKI configuration</description>
                </valueHelp>
              </properties>
            </leafNode>
            <leafNode name="passphrase">
              <properties>
                <help>Passphrase of the private key</help>
                <valueHelp>
                  <format>txt</format>
                  <description>Passphrase</description>
                </valueHelp>
              </properties>
            </leafNode>
          </children>
        </node>
      </children>
    </node>
    <leafNode name="esp-group">
      <properties>
        <help>ESP group of "vpn ipsec" with proposals and lifetime, the mode has no effect</help>
        <completionHelp>
          <path>vpn ipsec esp-group</path>
        </completionHelp>
        <valueHelp>
          <format>txt</format>
          <description>Name of an ESP group</description>
        </valueHelp>
      </properties>
    </leafNode>
    <leafNode name="force-udp-encapsulation">
      <properties>
        <help>Always encapsulate ESP in UDP, for networks that drop ESP</help>
        <valueless/>
      </properties>
    </leafNode>
    <leafNode name="ike-group">
      <properties>
        <help>IKE group of "vpn ipsec" with proposals, lifetime and dead peer detection</help>
        <completionHelp>
          <path>vpn ipsec ike-group</path>
        </completionHelp>
        <valueHelp>
          <format>txt</format>
          <description>Name of an IKE group</description>
        </valueHelp>
      </properties>
    </leafNode>
  </children>
</node>
