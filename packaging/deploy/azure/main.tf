# SPDX-License-Identifier: GPL-2.0-or-later
# Three sites of LEON in three regions of Azure. See README.md.

terraform {
  required_version = ">= 1.5"
  required_providers {
    azurerm = { source = "hashicorp/azurerm", version = ">= 4.0" }
    random  = { source = "hashicorp/random", version = ">= 3.0" }
  }
}

provider "azurerm" {
  features {}
  subscription_id = var.subscription
}

variable "subscription" {
  type = string
}

variable "sites" {
  description = "Region, network, id of the image in that region and address in the segment, by site"
  type = map(object({
    location = string
    cidr     = string
    image    = string
    overlay  = string
  }))
}

variable "size" {
  type    = string
  default = "Standard_B2ats_v2"
}

variable "public_key" {
  description = "SSH key for the user debian, of type ssh-rsa or ssh-ed25519"
  type        = string
}

variable "admin_cidr" {
  description = "Prefix from which SSH is permitted, such as 203.0.113.7/32"
  type        = string
}

variable "secret" {
  description = "Secret of the overlay, 8 to 128 characters. If empty, a random secret."
  type        = string
  default     = null
  sensitive   = true
}

variable "tokens" {
  description = "Token of `leonctl invite` for each site, to join an existing overlay in place of a secret"
  type        = map(string)
  default     = {}
  sensitive   = true
}

resource "random_password" "secret" {
  length  = 40
  special = false
}

locals {
  secret  = coalesce(var.secret, random_password.secret.result)
  token   = { for site in keys(var.sites) : site => length(var.tokens) > 0 ? var.tokens[site] : null }
  elastic = { for site, ip in azurerm_public_ip.node : site => ip.ip_address }
  overlay = { for site, s in var.sites : site => s.overlay }
}

resource "azurerm_resource_group" "site" {
  for_each = var.sites
  name     = "leon-${each.key}"
  location = each.value.location
}

resource "azurerm_virtual_network" "site" {
  for_each            = var.sites
  name                = "leon"
  location            = each.value.location
  resource_group_name = azurerm_resource_group.site[each.key].name
  address_space       = [each.value.cidr]
}

resource "azurerm_subnet" "site" {
  for_each             = var.sites
  name                 = "leon"
  resource_group_name  = azurerm_resource_group.site[each.key].name
  virtual_network_name = azurerm_virtual_network.site[each.key].name
  address_prefixes     = [each.value.cidr]
}

resource "azurerm_network_security_group" "node" {
  for_each            = var.sites
  name                = "leon"
  location            = each.value.location
  resource_group_name = azurerm_resource_group.site[each.key].name

  security_rule {
    name                       = "leon"
    priority                   = 100
    direction                  = "Inbound"
    access                     = "Allow"
    protocol                   = "Udp"
    source_address_prefix      = "*"
    source_port_range          = "*"
    destination_address_prefix = "*"
    destination_port_range     = "5366"
  }

  security_rule {
    name                       = "ssh"
    priority                   = 110
    direction                  = "Inbound"
    access                     = "Allow"
    protocol                   = "Tcp"
    source_address_prefix      = var.admin_cidr
    source_port_range          = "*"
    destination_address_prefix = "*"
    destination_port_range     = "22"
  }
}

# The address exists before the machine, because user-data contains the address.
resource "azurerm_public_ip" "node" {
  for_each            = var.sites
  name                = "leon"
  location            = each.value.location
  resource_group_name = azurerm_resource_group.site[each.key].name
  allocation_method   = "Static"
  sku                 = "Standard"
}

resource "azurerm_network_interface" "node" {
  for_each              = var.sites
  name                  = "leon"
  location              = each.value.location
  resource_group_name   = azurerm_resource_group.site[each.key].name
  ip_forwarding_enabled = true

  ip_configuration {
    name                          = "leon"
    subnet_id                     = azurerm_subnet.site[each.key].id
    private_ip_address_allocation = "Dynamic"
    public_ip_address_id          = azurerm_public_ip.node[each.key].id
  }
}

resource "azurerm_network_interface_security_group_association" "node" {
  for_each                  = var.sites
  network_interface_id      = azurerm_network_interface.node[each.key].id
  network_security_group_id = azurerm_network_security_group.node[each.key].id
}

resource "azurerm_linux_virtual_machine" "node" {
  for_each              = var.sites
  name                  = each.key
  location              = each.value.location
  resource_group_name   = azurerm_resource_group.site[each.key].name
  size                  = var.size
  admin_username        = "debian"
  network_interface_ids = [azurerm_network_interface.node[each.key].id]
  source_image_id       = each.value.image
  # The image has cloud-init and no agent of Azure.
  provision_vm_agent         = false
  allow_extension_operations = false

  admin_ssh_key {
    username   = "debian"
    public_key = var.public_key
  }

  os_disk {
    caching              = "ReadWrite"
    storage_account_type = "StandardSSD_LRS"
  }

  boot_diagnostics {}

  custom_data = base64encode(templatefile("${path.module}/../user-data.yaml.tftpl", {
    name    = each.key
    elastic = local.elastic
    overlay = local.overlay
    secret  = local.secret
    token   = local.token[each.key]
  }))

  # user-data has an effect at the first boot only. A new site changes user-data of all machines, so
  # changes do not replace the machines.
  lifecycle {
    ignore_changes = [custom_data]
  }
}

# Other hosts of the site reach the segment through their node.
resource "azurerm_route_table" "site" {
  for_each            = var.sites
  name                = "leon"
  location            = each.value.location
  resource_group_name = azurerm_resource_group.site[each.key].name

  route {
    name                   = "segment"
    address_prefix         = cidrsubnet(each.value.overlay, 0, 0)
    next_hop_type          = "VirtualAppliance"
    next_hop_in_ip_address = azurerm_network_interface.node[each.key].private_ip_address
  }
}

resource "azurerm_subnet_route_table_association" "site" {
  for_each       = var.sites
  subnet_id      = azurerm_subnet.site[each.key].id
  route_table_id = azurerm_route_table.site[each.key].id
}

output "nodes" {
  value = local.elastic
}
