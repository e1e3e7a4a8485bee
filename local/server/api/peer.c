// SPDX-License-Identifier: Apache-2.0
/* sock_diag(7): one question for one socket, by its addresses as they look from its side. */
#include "local/server/api/peer.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int api_peer_open(void)
{
	/* the kernel answers within send(); nothing to wait for otherwise */
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
}

static long read_uid(int netlink)
{
	union {
		struct nlmsghdr head;
		char bytes[1024];
	} answer;
	long uid = PEER_UNKNOWN;
	ssize_t n;
	while ((n = recv(netlink, &answer, sizeof answer, MSG_DONTWAIT)) > 0) {
		struct inet_diag_msg message;
		if ((size_t)n < NLMSG_LENGTH(sizeof message) ||
			answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
			continue;
		memcpy(&message, NLMSG_DATA(&answer.head), sizeof message);
		uid = (long)message.idiag_uid;
	}
	return uid;
}

long api_peer_uid(int netlink, int fd)
{
	struct sockaddr_in own, peer;
	socklen_t own_n = sizeof own, peer_n = sizeof peer;
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 body;
	} ask = { .head = { .nlmsg_len = sizeof ask,
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST },
		.body = { .sdiag_family = AF_INET,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = ~0U } };
	if (netlink < 0 || getsockname(fd, (struct sockaddr *)&own, &own_n) != 0 ||
		getpeername(fd, (struct sockaddr *)&peer, &peer_n) != 0 ||
		own.sin_family != AF_INET || peer.sin_family != AF_INET)
		return PEER_UNKNOWN;
	ask.body.id.idiag_sport = peer.sin_port;
	ask.body.id.idiag_dport = own.sin_port;
	ask.body.id.idiag_src[0] = peer.sin_addr.s_addr;
	ask.body.id.idiag_dst[0] = own.sin_addr.s_addr;
	ask.body.id.idiag_cookie[0] = ask.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	if (send(netlink, &ask, sizeof ask, 0) != (ssize_t)sizeof ask)
		return PEER_UNKNOWN;
	return read_uid(netlink);
}
