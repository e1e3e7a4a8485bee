# SPDX-License-Identifier: Apache-2.0
"""HTTP semantics of the API: errors, lists, patches, deletes."""
import base64
import json

from harness.case import Case, main

from backend import AGENTS, CLAIMS, EXT, PODS, POOLS, SANDBOXES, TEMPLATES, Backend, claim, wait_for


def pool(name, replicas=0, **metadata):
    return {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxWarmPool",
            "metadata": {"name": name, **metadata}, "spec": {"replicas": replicas, "sandboxTemplateRef": {"name": "local"}}}


class Api(Case):
    @classmethod
    def setUpClass(cls):
        import tempfile
        cls.folder = tempfile.TemporaryDirectory(prefix="sandmux-test-", ignore_cleanup_errors=True)
        cls.b = Backend(cls.folder.name + "/state", warm=0)

    @classmethod
    def tearDownClass(cls):
        cls.b.stop()
        cls.folder.cleanup()

    def setUp(self):
        for path in (CLAIMS, POOLS):
            self.b.call("DELETE", path)

    def status(self, reply, code, reason):
        self.assertEqual(reply.code, code, reply.body)
        s = reply.json
        self.assertEqual((s["kind"], s["status"], s["code"], s.get("reason")), ("Status", "Failure", code, reason))
        return s

    def test_authentication(self):
        for token in ("", "Bearer", "Bearer wrong", "Basic " + base64.b64encode(b"a:b").decode(),
                      f"Bearer {self.b.token}x", f"Bearer {self.b.token[:-1]}"):
            self.status(self.b.call("GET", PODS, headers={"Authorization": token}), 401, "Unauthorized")
        self.assertEqual(self.b.call("GET", "/readyz", headers={"Authorization": ""}).body, b"ok")

    def test_not_served(self):
        for path in ("/apis/x.example.org/v1/things", "/api/v2/pods", EXT + "/namespaces/default/nothings", "/nope",
                     "/apis/extensions.agents.x-k8s.io/v1alpha1/sandboxclaims", "/%zz"):
            r = self.b.get(path)
            self.assertIn(r.code, (404, 400), path)
        r = self.b.get("/apis/x.example.org/v1/things")
        self.assertEqual((r.code, r.body), (404, b"404 page not found\n"))
        self.assertIn("text/plain", r.headers["Content-Type"])

    def test_create_errors(self):
        self.assertEqual(self.b.create(POOLS, pool("one")).code, 201)
        s = self.status(self.b.create(POOLS, pool("one")), 409, "AlreadyExists")
        self.assertEqual(s["message"], 'sandboxwarmpools.extensions.agents.x-k8s.io "one" already exists')
        self.assertEqual(s["details"], {"name": "one", "group": "extensions.agents.x-k8s.io", "kind": "sandboxwarmpools"})
        s = self.status(self.b.create(POOLS, pool("Not_A_Name")), 422, "Invalid")
        self.assertEqual(s["details"]["causes"][0]["field"], "metadata.name")
        bad = pool("two")
        bad["spec"]["replicas"] = -1
        bad["spec"]["updateStrategy"] = {"type": "Sometimes"}
        s = self.status(self.b.create(POOLS, bad), 422, "Invalid")
        self.assertEqual({c["field"] for c in s["details"]["causes"]}, {"spec.replicas", "spec.updateStrategy.type"})
        del bad["spec"]["sandboxTemplateRef"]
        s = self.status(self.b.create(POOLS, bad), 422, "Invalid")
        self.assertIn(("FieldValueRequired", "spec.sandboxTemplateRef"), {(c["reason"], c["field"]) for c in s["details"]["causes"]})
        self.status(self.b.create(POOLS, b"{"), 400, "BadRequest")
        self.status(self.b.create(POOLS, b"[]"), 400, "BadRequest")
        self.status(self.b.create(POOLS, b""), 400, "BadRequest")
        self.status(self.b.create(POOLS, claim("x")), 400, "BadRequest")
        self.status(self.b.create(POOLS.replace("default", "nowhere"), pool("x")), 404, "NotFound")
        self.status(self.b.create(POOLS, pool("x", namespace="other")), 400, "BadRequest")
        self.status(self.b.create(POOLS, pool("x", labels={"a": "b c"})), 422, "Invalid")
        self.status(self.b.create(POOLS, b"x", type="application/vnd.kubernetes.protobuf"), 415, "UnsupportedMediaType")
        self.status(self.b.create(POOLS, b'{"a":"' + b"x" * 3145728 + b'"}'), 413, "RequestEntityTooLarge")

    def test_unknown_fields(self):
        body = pool("warned")
        body["spec"]["bogus"] = 1
        r = self.b.create(POOLS, body)
        self.assertEqual((r.code, r.headers["Warning"]), (201, '299 - "unknown field \\"spec.bogus\\""'))
        self.assertNotIn("bogus", r.json["spec"])
        s = self.status(self.b.create(POOLS, body, fieldValidation="Strict"), 400, "BadRequest")
        self.assertIn('strict decoding error: unknown field "spec.bogus"', s["message"])

    def test_defaults_and_server_fields(self):
        body = {**pool("d"), "status": {"replicas": 7}}
        del body["spec"]["replicas"]
        got = self.b.create(POOLS, body).json
        self.assertEqual(got["spec"]["replicas"], 1)
        self.assertNotIn("status", got)
        self.assertEqual(got["metadata"]["generation"], 1)
        self.assertRegex(got["metadata"]["uid"], r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
        self.assertRegex(got["metadata"]["creationTimestamp"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_generate_name_and_dry_run(self):
        body = pool("x")
        body["metadata"] = {"generateName": "gen-"}
        names = {self.b.create(POOLS, body).json["metadata"]["name"] for _ in range(5)}
        self.assertEqual(len(names), 5)
        for name in names:
            self.assertRegex(name, r"^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$")
        self.assertEqual(self.b.create(POOLS, pool("dry"), dryRun="All").code, 201)
        self.assertEqual(self.b.get(POOLS + "/dry").code, 404)

    def test_update_conflicts(self):
        first = self.b.create(POOLS, pool("u")).json
        body = {**first, "spec": {**first["spec"], "replicas": 0, "updateStrategy": {"type": "Recreate"}}}
        rv = wait_for("the controller has written its status", lambda: self.b.object(POOLS + "/u").get("status"))
        self.status(self.b.call("PUT", POOLS + "/u", body), 409, "Conflict")
        fresh = self.b.object(POOLS + "/u")
        body["metadata"]["resourceVersion"] = fresh["metadata"]["resourceVersion"]
        r = self.b.call("PUT", POOLS + "/u", body)
        self.assertEqual(r.code, 200, r.body)
        self.assertEqual(r.json["metadata"]["generation"], 2)
        del body["metadata"]["resourceVersion"]
        self.status(self.b.call("PUT", POOLS + "/u", body), 422, "Invalid")
        self.status(self.b.merge(POOLS + "/u", {"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 0}}), 409, "Conflict")
        same = self.b.merge(POOLS + "/u", {"spec": {"replicas": 0}}).json["metadata"]
        self.assertEqual(same["resourceVersion"], self.b.merge(POOLS + "/u", {"spec": {"replicas": 0}}).json["metadata"]["resourceVersion"])

    def test_patches(self):
        self.b.create(POOLS, pool("p", labels={"a": "1", "b": "2"}))
        got = self.b.merge(POOLS + "/p", {"metadata": {"labels": {"a": None, "c": "3"}}}).json
        self.assertEqual(got["metadata"]["labels"], {"b": "2", "c": "3"})
        ops = [{"op": "test", "path": "/metadata/labels/b", "value": "2"}, {"op": "add", "path": "/metadata/labels/x~1y", "value": "4"},
               {"op": "remove", "path": "/metadata/labels/c"}]
        r = self.b.call("PATCH", POOLS + "/p", ops, "application/json-patch+json")
        self.assertEqual(r.json["metadata"]["labels"], {"b": "2", "x/y": "4"})
        ops[0]["value"] = "no"
        self.status(self.b.call("PATCH", POOLS + "/p", ops, "application/json-patch+json"), 422, "Invalid")
        for type in ("application/strategic-merge-patch+json", "application/json", "text/plain"):
            self.status(self.b.call("PATCH", POOLS + "/p", {}, type), 415, "UnsupportedMediaType")
        self.status(self.b.merge(POOLS + "/gone", {}), 404, "NotFound")
        self.status(self.b.merge(POOLS + "/p", {"spec": {"replicas": "many"}}), 422, "Invalid")
        got = self.b.merge(POOLS + "/p/status", {"spec": {"replicas": 5}, "status": {"selector": "x=y"}}).json
        self.assertEqual((got["spec"]["replicas"], got["status"]["selector"]), (0, "x=y"))

    def test_scale(self):
        self.b.create(POOLS, pool("s"))
        got = self.b.get(POOLS + "/s/scale").json
        self.assertEqual((got["kind"], got["apiVersion"], got["spec"]), ("Scale", "autoscaling/v1", {"replicas": 0}))
        self.status(self.b.merge(POOLS + "/s/scale", {"spec": {"replicas": -2}}), 422, "Invalid")
        self.status(self.b.get(CLAIMS + "/s/scale"), 404, "NotFound")

    def test_pages(self):
        for i in range(7):
            self.b.create(POOLS, pool(f"page-{i}"))
        seen, token = [], ""
        first = None
        while True:
            r = self.b.get(POOLS, limit=3, **({"continue": token} if token else {})).json
            first = first or r["metadata"]["resourceVersion"]
            self.assertEqual(r["metadata"]["resourceVersion"], first)
            seen += [o["metadata"]["name"] for o in r["items"]]
            if len(seen) == 3:
                self.assertEqual(r["metadata"]["remainingItemCount"], 4)
                # a page already promised shows the collection as it was
                self.b.call("DELETE", POOLS + "/page-5")
                self.b.create(POOLS, pool("page-55"))
            token = r["metadata"].get("continue")
            if not token:
                break
        self.assertEqual(seen, [f"page-{i}" for i in range(7)])
        self.assertNotIn("remainingItemCount", r["metadata"])
        r = self.b.get(POOLS, limit=3, labelSelector="!x").json
        self.assertNotIn("remainingItemCount", r["metadata"])
        self.status(self.b.get(POOLS, limit=2, **{"continue": "garbage"}), 400, "BadRequest")
        token = self.b.get(POOLS, limit=2).json["metadata"]["continue"]
        self.status(self.b.get(POOLS, limit=2, resourceVersion="5", **{"continue": token}), 400, "BadRequest")
        self.assertEqual(len(self.b.get(POOLS, limit=2, resourceVersion="0").json["items"]), 7)

    def test_list_resource_versions(self):
        self.b.create(POOLS, pool("rv"))
        now = int(self.b.get(POOLS).json["metadata"]["resourceVersion"])
        self.b.call("DELETE", POOLS + "/rv")
        old = self.b.get(POOLS, resourceVersion=now, resourceVersionMatch="Exact").json
        self.assertIn("rv", [o["metadata"]["name"] for o in old["items"]])
        self.assertEqual(old["metadata"]["resourceVersion"], str(now))
        self.assertNotIn("rv", [o["metadata"]["name"] for o in self.b.get(POOLS, resourceVersion=now, resourceVersionMatch="NotOlderThan").json["items"]])
        s = self.status(self.b.get(POOLS, resourceVersion=now + 100000), 504, "Timeout")
        self.assertEqual(s["details"]["causes"][0]["reason"], "ResourceVersionTooLarge")
        self.status(self.b.get(POOLS, resourceVersionMatch="Exact"), 422, "Invalid")

    def test_selectors(self):
        for name, labels in (("a", {"env": "prod", "n": "5"}), ("b", {"env": "dev"}), ("c", {})):
            self.b.create(POOLS, pool(name, labels=labels))
        cases = {"env=prod": "a", "env==prod": "a", "env!=prod": "bc", "env in (prod, dev)": "ab", "env notin (prod)": "bc", "env": "ab",
                 "!env": "c", "env,env!=dev": "a", "n>4": "a", "n<5": "", "": "abc"}
        for selector, names in cases.items():
            got = self.b.get(POOLS, labelSelector=selector).json["items"]
            self.assertEqual("".join(o["metadata"]["name"] for o in got), names, selector)
        for bad in ("a=b=c", "a in b", "a in (b", "=x", "a,,b", "-a=b", "a=b,", "a notin", "(a)"):
            self.status(self.b.get(POOLS, labelSelector=bad), 400, "BadRequest")
        self.assertEqual(len(self.b.get(POOLS, fieldSelector="metadata.name=b").json["items"]), 1)
        self.assertEqual(len(self.b.get(POOLS, fieldSelector="metadata.name!=b,metadata.namespace=default").json["items"]), 2)
        self.status(self.b.get(POOLS, fieldSelector="spec.replicas=1"), 400, "BadRequest")
        s = self.status(self.b.get("/apis/events.k8s.io/v1/events", fieldSelector="involvedObject.kind=Pod"), 400, "BadRequest")
        self.assertEqual(s["message"], "field label not supported: involvedObject.kind")

    def test_forms(self):
        self.b.create(POOLS, pool("f"))
        table = self.b.call("GET", POOLS, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}).json
        self.assertEqual([c["name"] for c in table["columnDefinitions"]], ["Name", "Ready", "Desired", "Age"])
        self.assertEqual(table["rows"][0]["cells"][:3], ["f", 0, 0])
        self.assertEqual(table["rows"][0]["object"]["kind"], "PartialObjectMetadata")
        accept = {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"}
        partial = self.b.call("GET", POOLS, headers=accept).json
        self.assertEqual(partial["kind"], "PartialObjectMetadataList")
        self.assertNotIn("spec", partial["items"][0])
        self.status(self.b.call("GET", POOLS, headers={"Accept": "application/vnd.kubernetes.protobuf"}), 406, "NotAcceptable")

    def test_delete(self):
        uid = self.b.create(POOLS, pool("del", finalizers=["example.org/hold"])).json["metadata"]["uid"]
        s = self.status(self.b.call("DELETE", POOLS + "/del", {"preconditions": {"uid": "other"}}), 409, "Conflict")
        self.assertIn("does not match the UID in record", s["message"])
        held = self.b.call("DELETE", POOLS + "/del", {"preconditions": {"uid": uid}}).json
        self.assertIn("deletionTimestamp", held["metadata"])
        s = self.status(self.b.create(POOLS, pool("del")), 409, "AlreadyExists")
        self.assertTrue(s["message"].startswith("object is being deleted: "))
        self.b.merge(POOLS + "/del", {"metadata": {"finalizers": None}})
        self.assertEqual(self.b.get(POOLS + "/del").code, 404)
        self.b.create(POOLS, pool("del2"))
        done = self.b.call("DELETE", POOLS + "/del2", {"kind": "DeleteOptions", "apiVersion": "v1"}).json
        self.assertEqual((done["status"], done["details"]["name"]), ("Success", "del2"))
        self.status(self.b.call("DELETE", POOLS + "/del2"), 404, "NotFound")

    def test_cascade_policies(self):
        owner = self.b.create(POOLS, pool("owner")).json["metadata"]
        ref = [{"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxWarmPool", "name": "owner", "uid": owner["uid"]}]
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "child", "ownerReferences": ref}, "spec": {}}
        leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
        self.assertEqual(self.b.create(leases, lease).code, 201)
        self.b.call("DELETE", POOLS + "/owner", {"propagationPolicy": "Orphan"})
        wait_for("the owner goes", lambda: self.b.get(POOLS + "/owner").code == 404)
        self.assertNotIn("ownerReferences", self.b.object(leases + "/child")["metadata"])
        self.b.call("DELETE", leases + "/child")
        ref[0]["uid"] = self.b.create(POOLS, pool("owner")).json["metadata"]["uid"]
        lease["metadata"]["finalizers"] = ["example.org/hold"]
        self.b.create(leases, lease)
        self.b.call("DELETE", POOLS + "/owner", {"propagationPolicy": "Foreground"})
        wait_for("the child is marked", lambda: "deletionTimestamp" in self.b.object(leases + "/child")["metadata"])
        self.assertIn("foregroundDeletion", self.b.object(POOLS + "/owner")["metadata"]["finalizers"])
        self.b.merge(leases + "/child", {"metadata": {"finalizers": None}})
        wait_for("then the owner goes too", lambda: self.b.get(POOLS + "/owner").code == 404)

    def test_leases_want_micro_time(self):
        leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
        lease = {"metadata": {"name": "m"}, "spec": {"holderIdentity": "me", "leaseDurationSeconds": 60, "renewTime": "2026-01-02T03:04:05Z"}}
        self.assertIn(self.b.create(leases, lease).code, (400, 422))
        lease["spec"]["renewTime"] = "2026-01-02T03:04:05.000001Z"
        self.assertEqual(self.b.create(leases, lease).code, 201)
        self.b.call("DELETE", leases + "/m")

    def test_event_views(self):
        body = {"metadata": {"name": "e1"}, "eventTime": "2026-01-02T03:04:05.000000Z", "reason": "Tested", "action": "Test", "note": "a note",
                "type": "Normal", "reportingController": "test", "reportingInstance": "t", "regarding": {"kind": "Pod", "name": "p", "namespace": "default"}}
        r = self.b.create("/apis/events.k8s.io/v1/namespaces/default/events", body)
        self.assertEqual(r.code, 201, r.body)
        self.assertEqual(r.json["note"], "a note")
        core = self.b.object("/api/v1/namespaces/default/events/e1")
        self.assertEqual((core["message"], core["involvedObject"]["name"], core["apiVersion"]), ("a note", "p", "v1"))
        got = self.b.get("/api/v1/namespaces/default/events", fieldSelector="involvedObject.name=p,reason=Tested").json["items"]
        self.assertEqual(len(got), 1)
        got = self.b.get("/apis/events.k8s.io/v1/events", fieldSelector="regarding.name=p").json["items"]
        self.assertEqual(len(got), 1)

    def test_reviews(self):
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": {"namespace": "default", "verb": "create", "resource": "pods", "subresource": "portforward"}}}
        r = self.b.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body)
        self.assertEqual((r.code, r.json["status"]["allowed"], r.json["spec"]), (201, True, body["spec"]))
        r = self.b.create("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {"namespace": "default"}})
        self.assertEqual(r.json["status"]["resourceRules"][0]["verbs"], ["*"])
        r = self.b.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
        self.assertEqual(r.json["status"]["userInfo"]["username"], "sandmux-local")

    def test_openapi_is_of_one_piece(self):
        index = self.b.get("/openapi/v3").json["paths"]
        self.assertIn("apis/extensions.agents.x-k8s.io/v1beta1", index)
        for entry in index.values():
            path, _, query = entry["serverRelativeURL"].partition("?")
            doc = self.b.get(path).json
            text = json.dumps(doc)
            for ref in {w.split('"')[0] for w in text.split('"$ref": "')[1:]}:
                self.assertIn(ref.rsplit("/", 1)[1], doc["components"]["schemas"], ref)
        self.assertEqual(self.b.get("/openapi/v2").json["swagger"], "2.0")


main()
