"""Who may do what, put together: authentication, roles, admission and the audit log of one hub.

`app` makes it from settings and the state directory; tests make it as they need it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from muster.admission import Settings as AdmissionSettings
from muster.controllers.questions.asking import CONTROLLERS_ADDRESS, Controllers
from muster.hub.admission import ObjectChecks
from muster.hub.advice import FleetAdvice
from muster.hub.audit import AuditLevel, AuditLog, AuditSettings
from muster.hub.auth.account_secrets import AccountSecrets
from muster.hub.auth.authentication import Authentication
from muster.hub.auth.bootstrap_tokens import BootstrapTokens
from muster.hub.auth.certificates import AUTHORITY, certificate_text, client_authority
from muster.hub.auth.fairness import UserLimits
from muster.hub.auth.published import publish_authority
from muster.hub.auth.rbac.aggregation import Aggregation
from muster.hub.auth.rbac.authorizer import RbacAuthorizer
from muster.hub.auth.rbac.bootstrap import ensure_roles
from muster.hub.auth.rbac.escalation import EscalationGuard
from muster.hub.auth.service_accounts import ServiceAccountAuthenticator, TokenIssuer, signing_key
from muster.hub.auth.token_file import TokenFileAuthenticator
from muster.hub.auth.token_requests import TokenRequests
from muster.hub.auth.tokens import Credentials, TokenAuthenticator
from muster.hub.explanations import Explanations
from muster.hub.heavy_work import HeavyWork
from muster.hub.joining.limits import AgentLimits
from muster.hub.postponed_writes import PostponedWrites
from muster.hub.questions import Questions
from muster.hub.rest import explaining
from muster.hub.rest.account_tokens import ADDRESS, AccountTokens
from muster.hub.rest.explaining import PlacementExplaining
from muster.hub.rest.identity import Identity
from muster.hub.signing.admission import RequestAdmission

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from muster.hub.api import Api
    from muster.hub.requests import Admission, User
    from muster.hub.rest.application import Subresource
    from muster.hub.storage import Store

TOKENS = "tokens.json"
SIGNING_KEY = "service-account.key"
AUDIT_LOG = "audit.log"


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """What administrators decide. `strict_names`: resourceNames never allow a create, as in plain Kubernetes."""

    anonymous: bool = False
    strict_names: bool = False
    users: UserLimits = field(default_factory=UserLimits)
    audit: AuditSettings = field(default_factory=AuditSettings)
    admission: AdmissionSettings = field(default_factory=AdmissionSettings)


class Access:
    """The parts, ready to be given to the API and to the application. `start` before the first request."""

    def __init__(
        self,
        store: Store,
        directory: Path,
        users: Mapping[str, User],
        settings: AccessSettings | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`users` are known by tokens that are in no file, the administrator above all. `clock` dates taints."""
        self.settings = settings or AccessSettings()
        self._store = store
        self.authorizer = RbacAuthorizer(store)
        self._aggregation: Aggregation | None = None
        self._directory = directory
        self._clock = clock
        issuer = TokenIssuer(signing_key(directory / SIGNING_KEY))
        self.identity = Identity([issuer.web_key])
        self.authenticator = Credentials(
            TokenAuthenticator(users),
            TokenFileAuthenticator(directory / TOKENS),
            ServiceAccountAuthenticator(issuer, store),
            BootstrapTokens(store, clock),
        )
        self.heavy_work = HeavyWork()
        checks = ObjectChecks(
            store,
            self.authorizer,
            self.settings.admission,
            permissions=self.authorizer.read,
            clock=clock,
            heavy_work=self.heavy_work,
        )
        secrets = AccountSecrets(store, issuer, directory / AUTHORITY)
        controllers = Controllers(directory / CONTROLLERS_ADDRESS)
        advice = FleetAdvice(store, self.authorizer, controllers)
        self.admission: tuple[Admission, ...] = (
            checks,
            secrets,
            RequestAdmission(self.authorizer),
            AgentLimits(),
            EscalationGuard(self.authorizer, self.heavy_work),
            advice,
        )
        self.authentication = Authentication(
            self.authenticator, self.authorizer, anonymous=self.settings.anonymous, limits=self.settings.users
        )
        tokens = AccountTokens(TokenRequests(store, issuer), self.authorizer)
        explanations = Explanations(store, self.authorizer, (checks, advice), controllers, self.heavy_work)
        self.questions = Questions(
            store, self.authorizer, controllers, explanations, lambda: self.authorizer.policy
        ).answer
        self.subresources: Mapping[tuple[str, str], Subresource] = {
            ADDRESS: tokens,
            explaining.ADDRESS: PlacementExplaining(explanations, self.authorizer),
        }
        silent = self.settings.audit.level is AuditLevel.OFF
        self.audit = None if silent else AuditLog(directory / AUDIT_LOG, self.settings.audit)

    async def start(self, api: Api, postponed: PostponedWrites | None = None) -> None:
        """Follow roles and bindings, and make sure of those every hub has, now or later."""
        await self.authorizer.start()
        postponed = postponed or PostponedWrites()
        await postponed.do("the roles that every hub has", lambda: ensure_roles(api, self._store))
        await postponed.do("the authority of client certificates", lambda: self._publish(api))
        self._aggregation = Aggregation(api, self.authorizer)
        self._aggregation.start()

    async def _publish(self, api: Api) -> None:
        now = self._clock()
        certificate, _ = client_authority(self._directory, now)
        await publish_authority(api, self._store, certificate_text(certificate), now)

    async def close(self) -> None:
        """Before the API and the store are closed."""
        if self._aggregation is not None:
            await self._aggregation.close()
        await self.authorizer.close()
        if self.audit is not None:
            self.audit.close()
