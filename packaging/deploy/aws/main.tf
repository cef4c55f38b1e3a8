# SPDX-License-Identifier: GPL-2.0-or-later
# Three sites of LEON in three regions of AWS. See README.md.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws    = { source = "hashicorp/aws", version = ">= 6.0" }
    random = { source = "hashicorp/random", version = ">= 3.0" }
  }
}

provider "aws" {}

variable "sites" {
  description = "Region, network, AMI of the image in that region and address in the segment, by site"
  type = map(object({
    region  = string
    cidr    = string
    ami     = string
    overlay = string
  }))
}

variable "instance_type" {
  type    = string
  default = "t3.micro"
}

variable "public_key" {
  description = "SSH key for the user debian"
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
  elastic = { for site, eip in aws_eip.node : site => eip.public_ip }
  overlay = { for site, s in var.sites : site => s.overlay }
}

resource "aws_vpc" "site" {
  for_each   = var.sites
  region     = each.value.region
  cidr_block = each.value.cidr
  tags       = { Name = "leon-${each.key}" }
}

resource "aws_internet_gateway" "site" {
  for_each = var.sites
  region   = each.value.region
  vpc_id   = aws_vpc.site[each.key].id
}

resource "aws_subnet" "site" {
  for_each   = var.sites
  region     = each.value.region
  vpc_id     = aws_vpc.site[each.key].id
  cidr_block = each.value.cidr
}

resource "aws_route_table" "site" {
  for_each = var.sites
  region   = each.value.region
  vpc_id   = aws_vpc.site[each.key].id

  route {
    cidr_block = "0.0.0.0/0"
    gateway_id = aws_internet_gateway.site[each.key].id
  }
}

resource "aws_route_table_association" "site" {
  for_each       = var.sites
  region         = each.value.region
  subnet_id      = aws_subnet.site[each.key].id
  route_table_id = aws_route_table.site[each.key].id
}

resource "aws_security_group" "node" {
  for_each    = var.sites
  region      = each.value.region
  name        = "leon-${each.key}"
  description = "LEON and SSH"
  vpc_id      = aws_vpc.site[each.key].id

  ingress {
    description = "LEON"
    protocol    = "udp"
    from_port   = 5366
    to_port     = 5366
    cidr_blocks = ["0.0.0.0/0"]
  }

  ingress {
    description = "SSH"
    protocol    = "tcp"
    from_port   = 22
    to_port     = 22
    cidr_blocks = [var.admin_cidr]
  }

  ingress {
    description = "Traffic of the site through its node"
    protocol    = "-1"
    from_port   = 0
    to_port     = 0
    cidr_blocks = [each.value.cidr]
  }

  egress {
    protocol    = "-1"
    from_port   = 0
    to_port     = 0
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_key_pair" "admin" {
  for_each   = var.sites
  region     = each.value.region
  key_name   = "leon-${each.key}"
  public_key = var.public_key
}

# The address exists before the machine, because user-data contains the address.
resource "aws_eip" "node" {
  for_each = var.sites
  region   = each.value.region
  domain   = "vpc"
}

resource "aws_instance" "node" {
  for_each               = var.sites
  region                 = each.value.region
  ami                    = each.value.ami
  instance_type          = var.instance_type
  subnet_id              = aws_subnet.site[each.key].id
  vpc_security_group_ids = [aws_security_group.node[each.key].id]
  key_name               = aws_key_pair.admin[each.key].key_name
  source_dest_check      = false
  tags                   = { Name = "leon-${each.key}" }

  user_data = templatefile("${path.module}/../user-data.yaml.tftpl", {
    name    = each.key
    elastic = local.elastic
    overlay = local.overlay
    secret  = local.secret
    token   = local.token[each.key]
  })

  metadata_options {
    http_tokens = "required"
  }

  # user-data has an effect at the first boot only. A new site changes user-data of all machines, so
  # changes do not replace the machines.
  lifecycle {
    ignore_changes = [user_data]
  }
}

resource "aws_eip_association" "node" {
  for_each      = var.sites
  region        = each.value.region
  allocation_id = aws_eip.node[each.key].id
  instance_id   = aws_instance.node[each.key].id
}

# Other hosts of the site reach the segment through their node.
resource "aws_route" "segment" {
  for_each               = var.sites
  region                 = each.value.region
  route_table_id         = aws_route_table.site[each.key].id
  destination_cidr_block = cidrsubnet(each.value.overlay, 0, 0)
  network_interface_id   = aws_instance.node[each.key].primary_network_interface_id
}

output "nodes" {
  value = local.elastic
}
