"""The settings of librdkafka, by its CONFIGURATION.md. Pure."""

from streamhouse.doors.setting import Door, Kind, group, refuse

_LIST = r"[A-Za-z0-9_:+!@=.,*?/-]+"
_OURS = "Streamhouse sets it itself: it reads each range once, and commits nothing to Kafka"
_CODE = "librdkafka would load or run code that it names"
_KERBEROS = "it is for Kerberos, whose ticket librdkafka gets by a shell command"
_CALLBACK = "it is a callback of a program, and no text"
_WRITES = "it is for writing, and a source only reads"
_CLOUD = "librdkafka would send the login of this machine's cloud account to the brokers"
_LOGS = "Streamhouse takes no log, statistics or events of librdkafka"

KAFKA = Door(
    system="librdkafka",
    elsewhere="docs/sources.md lists the settings that a source may give",
    taken=dict(
        [
            *group("the name of this client for the brokers", Kind.TEXT, "client.id client.rack"),
            *group("how large messages and requests may be", Kind.NUMBER, """
                message.max.bytes message.copy.max.bytes receive.message.max.bytes
                max.in.flight.requests.per.connection max.in.flight"""),
            *group("how the client finds its brokers again", Kind.CHOICE, "metadata.recovery.strategy",
                choices=("none", "rebootstrap")),
            *group("how often the client asks which brokers there are", Kind.NUMBER, """
                metadata.recovery.rebootstrap.trigger.ms topic.metadata.refresh.interval.ms metadata.max.age.ms
                topic.metadata.refresh.fast.interval.ms topic.metadata.propagation.max.ms"""),
            *group("how much the client asks about topics", Kind.BOOLEAN, "topic.metadata.refresh.sparse"),
            *group("how the client connects", Kind.NUMBER, """
                socket.timeout.ms socket.send.buffer.bytes socket.receive.buffer.bytes socket.max.fails
                broker.address.ttl socket.connection.setup.timeout.ms connections.max.idle.ms
                reconnect.backoff.ms reconnect.backoff.max.ms retry.backoff.ms retry.backoff.max.ms
                api.version.request.timeout.ms api.version.fallback.ms"""),
            *group("how the client connects", Kind.BOOLEAN, """
                socket.keepalive.enable socket.nagle.disable api.version.request enable.metrics.push"""),
            *group("of which kind the addresses of brokers are", Kind.CHOICE, "broker.address.family",
                choices=("any", "v4", "v6")),
            *group("which addresses of a broker are tried", Kind.CHOICE, "client.dns.lookup",
                choices=("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only")),
            *group("the version of brokers older than 0.10", Kind.TEXT, "broker.version.fallback",
                pattern=r"[0-9]+(\.[0-9]+){1,3}"),
            *group("whether connections are encrypted, and log in", Kind.CHOICE, "security.protocol",
                choices=("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")),
            *group("which encryption is offered", Kind.TEXT, "ssl.cipher.suites ssl.curves.list ssl.sigalgs.list",
                pattern=_LIST),
            *group("our certificate and key, or an authority's certificate", Kind.FILE, """
                ssl.key.location ssl.certificate.location ssl.ca.location https.ca.location ssl.crl.location
                ssl.keystore.location"""),
            *group("our certificate, or an authority's", Kind.PEM, "ssl.certificate.pem ssl.ca.pem https.ca.pem"),
            *group("our key, or what opens it", Kind.SECRET, "ssl.key.password ssl.key.pem ssl.keystore.password"),
            *group("whether the broker's certificate is checked", Kind.BOOLEAN, "enable.ssl.certificate.verification"),
            *group("whether the name in the broker's certificate is checked", Kind.CHOICE,
                "ssl.endpoint.identification.algorithm", choices=("none", "https")),
            *group("how we log in", Kind.CHOICE, "sasl.mechanisms sasl.mechanism",
                choices=("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")),
            *group("who logs in", Kind.TEXT, """
                sasl.username sasl.oauthbearer.client.id sasl.oauthbearer.client.credentials.client.id"""),
            *group("what we log in with", Kind.SECRET, """
                sasl.password sasl.oauthbearer.config sasl.oauthbearer.client.secret
                sasl.oauthbearer.client.credentials.client.secret sasl.oauthbearer.assertion.private.key.passphrase
                sasl.oauthbearer.assertion.private.key.pem"""),
            *group("whether tokens without a signature are made, for tests", Kind.BOOLEAN,
                "enable.sasl.oauthbearer.unsecure.jwt"),
            *group("who makes tokens", Kind.CHOICE, "sasl.oauthbearer.method", choices=("default", "oidc")),
            *group("what a token is asked for", Kind.TEXT, """
                sasl.oauthbearer.scope sasl.oauthbearer.extensions sasl.oauthbearer.sub.claim.name
                sasl.oauthbearer.assertion.claim.aud sasl.oauthbearer.assertion.claim.iss
                sasl.oauthbearer.assertion.claim.sub"""),
            *group("where tokens come from", Kind.URL, "sasl.oauthbearer.token.endpoint.url"),
            *group("how a token is asked for", Kind.CHOICE, "sasl.oauthbearer.grant.type",
                choices=("client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer")),
            *group("how a request for a token is signed", Kind.CHOICE, "sasl.oauthbearer.assertion.algorithm",
                choices=("RS256", "ES256")),
            *group("what a request for a token is made of", Kind.FILE, """
                sasl.oauthbearer.assertion.private.key.file sasl.oauthbearer.assertion.file
                sasl.oauthbearer.assertion.jwt.template.file"""),
            *group("how long a request for a token is valid", Kind.NUMBER, """
                sasl.oauthbearer.assertion.claim.exp.seconds sasl.oauthbearer.assertion.claim.nbf.seconds"""),
            *group("whether a request for a token has an id", Kind.BOOLEAN,
                "sasl.oauthbearer.assertion.claim.jti.include"),
            *group("how much is fetched at once, and how long that may take", Kind.NUMBER, """
                queued.min.messages queued.max.messages.kbytes fetch.wait.max.ms fetch.queue.backoff.ms
                fetch.message.max.bytes max.partition.fetch.bytes fetch.max.bytes fetch.min.bytes
                fetch.error.backoff.ms"""),
            *group("whether messages are compared with their checksums", Kind.BOOLEAN, "check.crcs"),
        ]
    ),
    refused=dict(
        [
            *refuse("'servers' of the source names the brokers", "metadata.broker.list bootstrap.servers"),
            *refuse("'topic' of the source names the one topic that is read", "topic.blacklist"),
            *refuse(_OURS, """
                group.id enable.auto.commit auto.commit.interval.ms enable.auto.offset.store isolation.level
                enable.partition.eof auto.offset.reset auto.commit.enable"""),
            *refuse("Streamhouse assigns the partitions itself, without a group", """
                group.instance.id partition.assignment.strategy session.timeout.ms heartbeat.interval.ms
                group.protocol.type group.protocol group.remote.assignor coordinator.query.interval.ms
                max.poll.interval.ms max.poll.records share.acknowledgement.mode"""),
            *refuse("a topic must exist before it is read", "allow.auto.create.topics"),
            *refuse(_CODE, """
                plugin.library.paths interceptors ssl.engine.location ssl.engine.id ssl.providers"""),
            *refuse(_KERBEROS, """
                sasl.kerberos.service.name sasl.kerberos.principal sasl.kerberos.kinit.cmd sasl.kerberos.keytab
                sasl.kerberos.min.time.before.relogin"""),
            *refuse(_CLOUD, "sasl.oauthbearer.metadata.authentication.type"),
            *refuse(_LOGS, """
                debug statistics.interval.ms enabled_events log_level log.queue log.thread.name
                log.connection.close"""),
            *refuse(_CALLBACK, """
                error_cb throttle_cb stats_cb log_cb background_event_cb socket_cb connect_cb closesocket_cb open_cb
                resolve_cb opaque default_topic_conf ssl_key ssl_certificate ssl_ca ssl_engine_callback_data
                ssl.certificate.verify_cb oauthbearer_token_refresh_cb consume_cb rebalance_cb offset_commit_cb
                dr_cb dr_msg_cb partitioner_cb msg_order_cmp consume.callback.max.messages"""),
            *refuse("it says what librdkafka can do, and sets nothing", "builtin.features"),
            *refuse("it is about the whole process", "internal.termination.signal enable.random.seed"),
            *refuse("only Windows has such stores; use ssl.ca.location", "ssl.ca.certificate.stores"),
            *refuse("librdkafka uses it no longer", """
                topic.metadata.refresh.fast.cnt socket.blocking.max.ms reconnect.backoff.jitter.ms
                produce.offset.report"""),
            *refuse("librdkafka would write a file of offsets", """
                offset.store.method offset.store.path offset.store.sync.interval.ms"""),
            *refuse(_WRITES, """
                transactional.id transaction.timeout.ms enable.idempotence enable.gapless.guarantee
                queue.buffering.max.messages queue.buffering.max.kbytes queue.buffering.max.ms linger.ms
                message.send.max.retries retries queue.buffering.backpressure.threshold compression.codec
                compression.type compression.level batch.num.messages batch.size delivery.report.only.error
                sticky.partitioning.linger.ms request.required.acks acks request.timeout.ms message.timeout.ms
                delivery.timeout.ms queuing.strategy partitioner"""),
        ]
    ),
)  # fmt: skip
