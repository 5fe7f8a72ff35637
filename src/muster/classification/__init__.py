"""Labels for hosts by what they are: the rules of AgentClassification, without a server, a clock or a network.

    >>> from muster.classification import classify
    >>> big = {"labelKey": "size", "labelValue": "big", "query": ".cpu.count > 8"}
    >>> found = classify(
    ...     [{"metadata": {"name": "big"}, "spec": big}],
    ...     [{"metadata": {"name": "host-1"}, "status": {"inventory": {"cpu": {"count": 64}}}}],
    ... )
    >>> found.agents[0].labels
    {'inventoryclassification.agent-install.openshift.io/size': 'big'}

Reading order: outcomes (what an answer means), queries (a query in use), labels (which labels an agent must carry),
roster (all of a namespace, kept up to date), status (what a classification says of itself), one_shot, preview (what a
change would bring), summary and explanation (why).
"""

from muster.classification.classification import Classification, read_classification
from muster.classification.explanation import Explanation, Part, explain_query
from muster.classification.labels import LabelPlan, by_label, plan_labels, read_applied
from muster.classification.names import APPLIED, FINALIZER, LABEL_PREFIX, UPDATED_AT
from muster.classification.one_shot import Classified, ClassifiedAgent, agent_read, classify, queried_inventory
from muster.classification.outcomes import Outcome, Verdict, judge
from muster.classification.preview import ClassificationChange, LabelChange, LabelPreview, preview_labels
from muster.classification.queries import Work
from muster.classification.roster import Roster, Tally
from muster.classification.status import SOMETIMES, Report, may_go, report
from muster.classification.summary import OutcomeGroup, outcome_groups

__all__ = [
    "APPLIED",
    "FINALIZER",
    "LABEL_PREFIX",
    "SOMETIMES",
    "UPDATED_AT",
    "Classification",
    "ClassificationChange",
    "Classified",
    "ClassifiedAgent",
    "Explanation",
    "LabelChange",
    "LabelPlan",
    "LabelPreview",
    "Outcome",
    "OutcomeGroup",
    "Part",
    "Report",
    "Roster",
    "Tally",
    "Verdict",
    "Work",
    "agent_read",
    "by_label",
    "classify",
    "explain_query",
    "judge",
    "may_go",
    "outcome_groups",
    "plan_labels",
    "preview_labels",
    "queried_inventory",
    "read_applied",
    "read_classification",
    "report",
]
