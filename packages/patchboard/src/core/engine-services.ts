import { isAsApproved } from './call/as-approved.ts';
import type { Call } from './call/call.ts';
import { publishProgress } from './call/caller-events.ts';
import { CancelledRuns } from './call/cancelled-runs.ts';
import { InputChecks } from './call/input-checks.ts';
import { InputRequests } from './call/input-requests.ts';
import { Lifecycle } from './call/lifecycle.ts';
import { eventContent } from './call/listed-content.ts';
import type { LiveCall } from './call/live-call.ts';
import { Runs } from './call/runs.ts';
import { Waiters } from './call/waiters.ts';
import { ClientCallsElsewhere } from './devices/client-calls-elsewhere.ts';
import { ClientInputs } from './devices/client-inputs.ts';
import { ClientQueueProvider } from './devices/client-queue-provider.ts';
import { ClientQueues } from './devices/client-queues.ts';
import { ClientResults } from './devices/client-results.ts';
import { ClientToolService } from './devices/client-tool-service.ts';
import { DeviceProvider } from './devices/device-provider.ts';
import { Devices } from './devices/devices.ts';
import { Pools } from './devices/pools.ts';
import { StoredClientTools } from './devices/stored-client-tools.ts';
import { WithdrawnTools } from './devices/withdrawn-tools.ts';
import type { EngineParts } from './engine-parts.ts';
import { EventFeed } from './ledger/events.ts';
import type { RefusedCall } from './ledger/ledger.ts';
import { InProcessProvider } from './providers/in-process-provider.ts';
import { Providers } from './providers/providers.ts';
import { Resources } from './resources/resources.ts';
import { Searches } from './search/searches.ts';
import { Approvals } from './steps/approvals.ts';
import { CallNotifier } from './steps/call-notifier.ts';
import { Calls } from './steps/calls.ts';
import { Fencing } from './steps/fencing.ts';
import { InputResponses } from './steps/input-responses.ts';
import { Intake } from './steps/intake.ts';
import { Previews } from './steps/preview.ts';
import { Recorder } from './steps/record-call.ts';
import { Refusals } from './steps/refusals.ts';
import { ResponseCache } from './steps/response-cache.ts';
import { SharedChanges } from './shared-changes.ts';
import { Signals } from './signals.ts';
import { Tasks } from './tasks.ts';
import { ServerToolService } from './tools/server-tool-service.ts';
import { ToolIndex } from './tools/tool-index.ts';
import { ToolMemory } from './tools/tool-memory.ts';
import { UpstreamService } from './upstreams/upstream-service.ts';

/** What the services need of their engine. */
export interface EngineHost {
  /** Names of the packs that were added. */
  readonly packs: Set<string>;
  readonly isDraining: () => boolean;
  /** The tenant may have other tools now. */
  readonly toolsChanged: (tenant: string) => void;
  /** Called with each refused request that has a ledger row. */
  readonly refused: (call: RefusedCall) => void;
}

/** The services of one engine, connected to each other. */
export class EngineServices {
  readonly changes: SharedChanges;
  readonly signals: Signals;
  readonly storedTools: StoredClientTools;
  readonly toolIndex: ToolIndex;
  readonly memory: ToolMemory;
  readonly clientTools: ClientToolService;
  readonly serverTools: ServerToolService;
  readonly upstreams: UpstreamService;
  readonly resources: Resources;
  readonly feed: EventFeed;
  readonly tasks: Tasks;
  readonly clientQueues: ClientQueues;
  readonly pools: Pools = new Pools();
  readonly devices: Devices;
  readonly callsElsewhere: ClientCallsElsewhere;
  readonly clients: ClientResults;
  readonly clientInputs: ClientInputs;
  readonly inProcess: InProcessProvider;
  readonly providers: Providers;
  readonly lifecycle: Lifecycle;
  readonly waiters: Waiters;
  readonly notifier: CallNotifier;
  readonly fencing: Fencing;
  readonly runs: Runs;
  readonly #cancelledRuns: CancelledRuns;
  readonly recorder: Recorder;
  readonly intake: Intake;
  readonly previews: Previews;
  readonly approvals: Approvals;
  readonly inputs: InputResponses;
  readonly calls: Calls;
  readonly searches: Searches;

  constructor(parts: EngineParts, host: EngineHost) {
    const { clock, log, limits } = parts;
    this.toolIndex = new ToolIndex(parts);
    this.memory = new ToolMemory(limits.toolsPerTenant);
    this.feed = new EventFeed(parts);
    this.tasks = new Tasks(log);
    this.clientQueues = new ClientQueues({
      ...parts,
      tasks: this.tasks,
      mayRun: (call) => isAsApproved(call, () => this.toolIndex.find(call.tenant, call.toolName)),
      claim: (live) => this.lifecycle.claim(live),
      attached: (tenant, clientId) => this.callsElsewhere.attached(tenant, clientId),
    });
    const checks = new InputChecks(parts.schemas);
    const tools = { ...parts, toolIndex: this.toolIndex, memory: this.memory, tasks: this.tasks };
    this.changes = new SharedChanges(parts);
    this.signals = new Signals(parts.peers);
    this.storedTools = new StoredClientTools({
      ...tools,
      pools: this.pools,
      changedElsewhere: (tenant) => {
        host.toolsChanged(tenant);
        this.clientQueues.toolsRegistered(tenant);
      },
    });
    this.clientTools = new ClientToolService({
      ...tools,
      pools: this.pools,
      changes: this.changes,
      stored: this.storedTools,
      registered: (tenant) => this.clientQueues.toolsRegistered(tenant),
      withdrawn: new WithdrawnTools({
        ...parts,
        pools: this.pools,
        after: (ms, action) => this.lifecycle.wheel.after(ms, action),
        isClosed: () => this.lifecycle.isClosed,
      }),
    });
    this.resources = new Resources({ ...parts, feed: this.feed, checks, signals: this.signals });
    this.serverTools = new ServerToolService(tools);
    this.upstreams = new UpstreamService({ ...tools, feed: this.feed, packs: host.packs });

    this.#followChanges(parts);

    this.lifecycle = this.#newLifecycle(parts);
    this.waiters = new Waiters(this.lifecycle.wheel);
    const responses = new ResponseCache(clock);
    this.notifier = new CallNotifier({ log, waiters: this.waiters, responses });
    this.runs = new Runs({ ...parts, lifecycle: this.lifecycle });
    this.#cancelledRuns = new CancelledRuns({ ...parts, lifecycle: this.lifecycle, tasks: this.tasks });

    const shared = {
      ...parts,
      toolIndex: this.toolIndex,
      clientQueues: this.clientQueues,
      lifecycle: this.lifecycle,
      tasks: this.tasks,
      feed: this.feed,
      movedElsewhere: (call: Call) => this.notifier.movedElsewhere(call),
      progress: (live: LiveCall, data: unknown) =>
        publishProgress({ feed: this.feed, clock, log }, live, eventContent(parts.redactor.value(data))),
    };
    const inputRequests = new InputRequests({
      ...shared,
      checks,
      inputRequired: (live) => this.notifier.inputRequired(live),
      inputSupplied: () => this.notifier.idle(),
    });
    const queue = new ClientQueueProvider(this.clientQueues, (call) => this.waiters.inputGiven(call));
    const provider = new DeviceProvider({ ...shared, pools: this.pools, queue });
    this.callsElsewhere = new ClientCallsElsewhere({ ...shared, provider });
    const { clientTools, callsElsewhere } = this;
    this.devices = new Devices({ ...shared, clientTools, provider, callsElsewhere });
    this.clients = new ClientResults(shared);
    this.clientInputs = new ClientInputs({ ...shared, requests: inputRequests, waiters: this.waiters });
    this.inProcess = new InProcessProvider({ ...shared, inputRequests });
    this.providers = new Providers({ server: this.inProcess, client: provider });
    this.fencing = new Fencing({
      log,
      lifecycle: this.lifecycle,
      providers: this.providers,
      notifier: this.notifier,
    });

    const steps = {
      ...shared,
      providers: this.providers,
      responses,
      changes: this.changes,
      isDraining: host.isDraining,
      fenced: () => this.fencing.failure,
    };
    this.recorder = new Recorder(steps);
    const refusals = new Refusals({ ...steps, recorder: this.recorder, refused: host.refused });
    this.intake = new Intake({ ...steps, recorder: this.recorder, refusals });
    this.previews = new Previews({ ...steps, intake: this.intake });
    this.approvals = new Approvals(steps);
    this.inputs = new InputResponses({ ...steps, checks, approvals: this.approvals });
    const { runs, waiters, approvals, inputs } = this;
    this.calls = new Calls({ ...steps, runs, waiters, approvals, inputs });
    this.searches = new Searches({ ...shared, runs });
  }

  #followChanges({ grants }: EngineParts): void {
    const { changes, memory, upstreams, storedTools } = this;
    changes.onDocument('grant', (id, body) => grants.apply(id, body));
    changes.onDocument('risk', (id, body) => memory.risks.apply(id, body));
    changes.onDocument('contract', (id, body) => upstreams.applyContract(id, body));
    changes.onDocument('upstream', (id, body) => upstreams.applyList(id, body));
    changes.onTools((tools) => storedTools.apply(tools));
  }

  #newLifecycle(parts: EngineParts): Lifecycle {
    return new Lifecycle({
      ...parts,
      toolOf: (call) => {
        const tool = this.toolIndex.find(call.tenant, call.toolName);
        return tool?.version === call.toolVersion ? tool : undefined;
      },
      cancelled: (live, reason, before) => this.providers.ofCall(live.call).cancel(live, reason, before),
      ended: (call) => {
        this.notifier.ended(call);
        this.#cancelledRuns.callOver(call);
        parts.peers.ended(call);
      },
      dropped: (call) => this.notifier.dropped(call),
      movedElsewhere: (call) => {
        this.notifier.movedElsewhere(call);
        this.#cancelledRuns.callOver(call);
      },
      respondedElsewhere: (live) => this.tasks.start('input given', () => this.inputs.resume(live)),
      goesOn: (live) =>
        this.tasks.start('call goes on', () =>
          live.call.state.name === 'APPROVED'
            ? this.approvals.releaseApproved(live)
            : this.inputs.startAgain(live),
        ),
    });
  }
}
