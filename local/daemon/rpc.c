// SPDX-License-Identifier: Apache-2.0
/* Messages of the process service: from bytes and into them. */
#include "local/daemon/service_internal.h"

#include "engine/base/mem.h"
#include "local/daemon/pb_check.h"

#include <stdlib.h>

void *daemon_rpc_unpack(struct daemon_h2_call *call, const ProtobufCMessageDescriptor *type,
	struct slice message, const char **nul_in)
{
	const char *why = NULL;
	void *request = daemon_pb_unpack(
		type, (const unsigned char *)message.p, message.n, nul_in, &why);
	if (request == NULL)
		daemon_h2_call_finish(
			call, RPC_INTERNAL, "grpc: error unmarshalling request: %s", why);
	return request;
}

void daemon_rpc_send(struct daemon_h2_call *call, const ProtobufCMessage *message)
{
	unsigned char small[CHUNK_BYTES + 64];
	size_t n = protobuf_c_message_get_packed_size(message);
	unsigned char *bytes = n <= sizeof small ? small : x_malloc(n);
	protobuf_c_message_pack(message, bytes);
	daemon_h2_call_send(call, bytes, n);
	if (bytes != small)
		free(bytes);
}

void daemon_rpc_reply(struct daemon_h2_call *call, const ProtobufCMessage *message)
{
	daemon_rpc_send(call, message);
	daemon_h2_call_finish(call, RPC_OK, "%s", "");
}
