//! The frame of every page of a user: the navigation, the user, the notice after a form.

use nightdesk_users::{Access, Place, Right};

use crate::notice::Notice;

/// The frame of a page.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The user's name.
    pub(crate) user: String,
    /// The tenant of the page.
    pub(crate) tenant: Option<String>,
    /// The links of the navigation.
    pub(crate) links: Vec<NavigationLink>,
    /// The result of the last form.
    pub(crate) notice: Option<&'static str>,
}

/// A link of the navigation.
#[derive(Debug)]
pub(crate) struct NavigationLink {
    pub(crate) path: String,
    pub(crate) label: &'static str,
    pub(crate) is_here: bool,
}

/// The page of the navigation that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Desk,
    DeskAlerts,
    DeskUsage,
    Nodes,
    DeskAudit,
    DeskUsers,
    Tokens,
    Tenant,
    Alerts,
    Stuck,
    Jobs,
    Letters,
    Shelf,
    People,
    Bots,
    Audit,
    Usage,
    Users,
}

/// A page in the navigation.
struct NavigationPage {
    section: Section,
    /// The address, below that of the tenant for a tenant's page.
    path: &'static str,
    label: &'static str,
    /// The right without which the page is not shown.
    right: Right,
}

const fn page(
    section: Section,
    path: &'static str,
    label: &'static str,
    right: Right,
) -> NavigationPage {
    NavigationPage { section, path, label, right }
}

/// The pages of the desk, in their order.
const DESK_PAGES: [NavigationPage; 6] = [
    page(Section::Desk, "/", "Tenants", Right::Read),
    page(Section::DeskAlerts, "/alerts", "Alerts", Right::Read),
    page(Section::DeskUsage, "/usage", "Usage", Right::Read),
    page(Section::Nodes, "/nodes", "Nodes", Right::Read),
    page(Section::DeskAudit, "/audit", "Audit", Right::ReadAudit),
    page(Section::DeskUsers, "/users", "Users", Right::ManageUsers),
];

/// The pages of a tenant, in their order. A row here is a link on every page of a tenant.
const TENANT_PAGES: [NavigationPage; 11] = [
    page(Section::Tenant, "", "Overview", Right::Read),
    page(Section::Alerts, "/alerts", "Alerts", Right::Read),
    page(Section::Stuck, "/stuck", "Stuck", Right::Read),
    page(Section::Jobs, "/jobs", "Jobs", Right::Read),
    page(Section::Letters, "/letters", "Letters", Right::Read),
    page(Section::Shelf, "/shelf", "Shelf", Right::Read),
    page(Section::People, "/people", "People", Right::Read),
    page(Section::Bots, "/bots", "Bots", Right::Read),
    page(Section::Audit, "/audit", "Audit", Right::ReadAudit),
    page(Section::Usage, "/usage", "Usage", Right::Read),
    page(Section::Users, "/users", "Users", Right::ManageUsers),
];

impl Layout {
    /// Makes the frame of a page of the desk, or of the user.
    pub(crate) fn of_desk(access: &Access, here: Section) -> Self {
        let allowed = DESK_PAGES.iter().filter(|page| access.allows(Place::Desk, page.right));
        let mut links: Vec<_> = allowed
            .map(|page| link(page.path.to_owned(), page.label, page.section == here))
            .collect();
        if !access.sees_desk() {
            links.insert(0, link("/".to_owned(), "Tenants", here == Section::Desk));
        }
        Self { user: access.name.clone(), tenant: None, links, notice: None }
    }

    /// Makes the frame of a page of a tenant.
    pub(crate) fn of_tenant(access: &Access, place: Place, tenant: &str, here: Section) -> Self {
        let base = tenant_path(tenant);
        let allowed = TENANT_PAGES.iter().filter(|page| access.allows(place, page.right));
        let own = allowed
            .map(|page| link(format!("{base}{}", page.path), page.label, page.section == here));
        let all = link("/".to_owned(), "All tenants", false);
        let links = [all].into_iter().chain(own).collect();
        Self { user: access.name.clone(), tenant: Some(tenant.to_owned()), links, notice: None }
    }

    /// Shows the notice that a form left.
    #[must_use]
    pub(crate) fn with_notice(self, notice: Option<Notice>) -> Self {
        Self { notice: notice.map(Notice::text), ..self }
    }
}

const fn link(path: String, label: &'static str, is_here: bool) -> NavigationLink {
    NavigationLink { path, label, is_here }
}

/// Returns the address of a tenant's overview.
pub(crate) fn tenant_path(tenant: &str) -> String {
    format!("/t/{}", encode(tenant))
}

/// Encodes a segment of a path or a value of a query.
pub(crate) fn encode(segment: &str) -> String {
    url::form_urlencoded::byte_serialize(segment.as_bytes()).collect::<String>().replace('+', "%20")
}
