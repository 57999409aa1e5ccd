import {
  createRouter,
  createWebHistory,
  type LocationQueryRaw,
  type RouteLocationNormalized,
  type RouteLocationRaw,
  type Router,
  type RouteRecordRaw,
} from 'vue-router';
import { linkOfFormerFilters } from './data/calls-link.ts';
import { urlTenant } from './data/connection.ts';
import { homePage } from './data/session.ts';

const routes: RouteRecordRaw[] = [
  { path: '/', redirect: () => ({ name: homePage() }) },
  { path: '/ui/', redirect: () => ({ name: homePage() }) },
  { path: '/ui/tester', name: 'tester', component: () => import('./pages/TesterPage.vue') },
  {
    path: '/ui/calls',
    name: 'calls',
    component: () => import('./pages/CallsPage.vue'),
    beforeEnter: withQuery,
  },
  { path: '/ui/calls/:id', name: 'call', component: () => import('./pages/CallPage.vue'), props: true },
  { path: '/ui/runs', name: 'runs', component: () => import('./pages/RunsPage.vue') },
  { path: '/ui/runs/:id', name: 'run', component: () => import('./pages/RunPage.vue'), props: true },
  { path: '/ui/traces/:id', name: 'trace', component: () => import('./pages/TracePage.vue'), props: true },
  { path: '/ui/compare', name: 'compare', component: () => import('./pages/ComparePage.vue') },
  {
    path: '/ui/approvals',
    name: 'approvals',
    component: () => import('./pages/ApprovalsPage.vue'),
    beforeEnter: selectLinked,
  },
  { path: '/ui/tools', name: 'tools', component: () => import('./pages/ToolsPage.vue') },
  { path: '/ui/resources', name: 'resources', component: () => import('./pages/ResourcesPage.vue') },
  { path: '/ui/devices', name: 'devices', component: () => import('./pages/DevicesPage.vue') },
  { path: '/ui/upstreams', name: 'upstreams', component: () => import('./pages/UpstreamsPage.vue') },
  { path: '/ui/nodes', name: 'nodes', component: () => import('./pages/NodesPage.vue') },
  { path: '/ui/agents', name: 'agents', component: () => import('./pages/AgentsPage.vue') },
  { path: '/ui/ledger', name: 'ledger', component: () => import('./pages/LedgerPage.vue') },
  { path: '/ui/metrics', name: 'metrics', component: () => import('./pages/MetricsPage.vue') },
  { path: '/ui/settings', name: 'settings', component: () => import('./pages/SettingsPage.vue') },
  { path: '/ui/login', name: 'login', component: () => import('./pages/LoginPage.vue') },
  { path: '/:rest(.*)*', name: 'nowhere', component: () => import('./pages/NowherePage.vue') },
];

/** Links that other programs show name the call by `id`. */
function selectLinked({ name, query: { id, ...query } }: RouteLocationNormalized): RouteLocationRaw | true {
  return id === undefined ? true : { name, query: { ...query, call: id }, replace: true };
}

/** Links with the former filters of the list of calls. */
function withQuery({ name, query: former }: RouteLocationNormalized): RouteLocationRaw | true {
  const query = linkOfFormerFilters(former) as LocationQueryRaw | null;
  return query === null ? true : { name, query, replace: true };
}

/** Create the router only after the login token was removed from the URL. */
export function createConsoleRouter(): Router {
  const router = createRouter({ history: createWebHistory(), routes });
  // The tenant is a query parameter that every navigation keeps.
  router.beforeEach((to, from) => {
    if (to.query['tenant'] === undefined && from.query['tenant'] !== undefined && to.name !== undefined) {
      return { ...to, query: { ...to.query, tenant: from.query['tenant'] } };
    }
    return true;
  });
  router.afterEach((to) => {
    const named = to.query['tenant'];
    urlTenant.value = typeof named === 'string' && named !== '' ? named : 'default';
  });
  return router;
}
