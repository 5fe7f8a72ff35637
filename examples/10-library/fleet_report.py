"""Which clusters can take the checkout service, why not the others, and what would change. No server is needed."""

import muster

fleet = muster.load("examples/05-why-not/fleet.yaml")
print(fleet)

chosen = muster.select(fleet, "managedCluster.metadata.labels.cloud == 'Amazon'", labels="tier=gold")
print(chosen)

new = muster.load("examples/10-library/checkout.yaml")
for finding in muster.lint(new, fleet):
    print(finding.severity, finding.object, finding.finding.message)

print(muster.plan(fleet, new, fail_if_empty=True))
print(muster.explain(fleet + new, "apps/checkout"))

rule = muster.cel.compile_program(
    "cpu >= 8 && zone.startsWith('eu-')",
    muster.cel.environment("kubernetes-1.34").with_variables(cpu=muster.cel.INT, zone=muster.cel.STRING),
)
print(rule.evaluate({"cpu": 16, "zone": "eu-west-1"}), "for", rule.cost({"cpu": 16, "zone": "eu-west-1"}), "units")
