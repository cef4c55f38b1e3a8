// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/message/msg: each decoded message can be encoded and decodes to an equal message. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/message/msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t once[MSG_LEN_MAX], twice[MSG_LEN_MAX];
	struct msg m, back;
	int n;

	if (msg_decode(data, len, &m))
		return 0;
	n = msg_encode(&m, once, sizeof(once));
	if (n <= 0 || (size_t)n > len)
		abort();
	if (msg_decode(once, (size_t)n, &back) || memcmp(&m, &back, sizeof(m)))
		abort();
	if (msg_encode(&back, twice, sizeof(twice)) != n || memcmp(once, twice, (size_t)n))
		abort();
	return 0;
}
