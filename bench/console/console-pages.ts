import { CONSOLE_PAGES } from '@patchboard/wire';

/** Ids of what the detail pages show. */
export interface ShownIds {
  readonly call: string;
  readonly otherCall: string;
  readonly run: string;
  readonly otherRun: string;
  readonly trace: string;
  readonly tool: string;
}

export interface MeasuredPage {
  readonly name: string;
  readonly path: (shown: ShownIds) => string;
  /** Selector of an element that the page has once it shows its data. */
  readonly ready: string;
  /** Selector of the rows of its list. */
  readonly row?: string;
}

type Opened = Omit<MeasuredPage, 'name'>;

const at =
  (path: string): (() => string) =>
  () =>
    `/ui/${path}`;

/** Each page of the navigation as it opens. */
const NAVIGATED: Readonly<Record<(typeof CONSOLE_PAGES)[number], Opened>> = {
  tester: { path: at('tester'), ready: '[data-tool]', row: '[data-tool]' },
  calls: { path: at('calls'), ready: '[data-call]', row: '[role=row][data-call]' },
  runs: { path: at('runs'), ready: '[data-run]', row: '[role=row][data-run]' },
  approvals: { path: at('approvals'), ready: '[data-approval-detail]', row: '[data-approval]' },
  tools: { path: at('tools'), ready: '[data-tool]', row: '[data-tool]' },
  resources: { path: at('resources'), ready: '[data-resource]', row: '[data-resource]' },
  devices: { path: at('devices'), ready: '[data-device]', row: '[data-device]' },
  upstreams: { path: at('upstreams'), ready: '[data-state="empty"]' },
  nodes: { path: at('nodes'), ready: '[data-node]', row: '[data-node]' },
  agents: { path: at('agents'), ready: '[data-create-key]' },
  ledger: { path: at('ledger'), ready: '[data-row]', row: '[data-row]' },
  metrics: { path: at('metrics'), ready: '[data-series]', row: '[data-series]' },
  settings: { path: at('settings'), ready: 'main kbd' },
};

/** Other pages, and the views of pages that read more than the page that opens. */
const OTHERS: readonly MeasuredPage[] = [
  {
    name: 'tester, a tool',
    path: ({ tool }) => `/ui/tester?pane=sandbox&tool=${tool}&pick=${tool}`,
    ready: '[data-field="/text"]',
  },
  {
    name: 'calls, a query',
    path: ({ tool }) => `/ui/calls?query=${encodeURIComponent(`tool:${tool} state:failed`)}`,
    ready: '[data-call]',
    row: '[role=row][data-call]',
  },
  {
    name: 'calls, the slowest',
    path: at('calls?sort=ran&order=desc'),
    ready: '[data-call]',
    row: '[role=row][data-call]',
  },
  { name: 'one call', path: ({ call }) => `/ui/calls/${call}`, ready: '[data-stretch]' },
  { name: 'one run', path: ({ run }) => `/ui/runs/${run}`, ready: '[data-waterfall] [data-call]' },
  { name: 'one trace', path: ({ trace }) => `/ui/traces/${trace}`, ready: '[data-waterfall] [data-call]' },
  {
    name: 'compared runs',
    path: ({ run, otherRun }) => `/ui/compare?a=${run}&b=${otherRun}`,
    ready: '[data-pair]',
    row: '[data-pair]',
  },
  {
    name: 'compared calls',
    path: ({ call, otherCall }) => `/ui/compare?a=${call}&b=${otherCall}`,
    ready: '[data-call-comparison]',
  },
  { name: 'one tool', path: ({ tool }) => `/ui/tools?tool=${tool}`, ready: '[data-tool-detail] pre' },
  { name: 'policy', path: at('agents?view=policy'), ready: 'main table' },
  {
    name: 'simulator',
    path: ({ tool }) => `/ui/agents?view=simulator&tool=${tool}`,
    ready: '[data-explanation]',
  },
  { name: 'metrics by tool, a week', path: at('metrics?by=tool&since=7d'), ready: '[data-series]' },
];

export const MEASURED_PAGES: readonly MeasuredPage[] = [
  ...CONSOLE_PAGES.map((name) => ({ name, ...NAVIGATED[name] })),
  ...OTHERS,
];
