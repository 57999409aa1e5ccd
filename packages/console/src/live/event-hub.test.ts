import { describe, expect, it } from 'vitest';
import { EventHub, MAX_STREAMS } from './event-hub.ts';
import type { HubMessage, Subscription } from './hub-messages.ts';
import type { FollowServer, StreamHandlers } from './server-stream.ts';

interface OpenStream extends StreamHandlers {
  readonly tenant: string;
  readonly proof: string | null;
  readonly signal: AbortSignal;
}

function aHub(): {
  hub: EventHub;
  opened: OpenStream[];
  openTenants: () => string[];
  clock: { now: number };
} {
  const opened: OpenStream[] = [];
  const clock = { now: 1000 };
  const follow: FollowServer = ({ tenant, proof }, handlers, signal) => {
    opened.push({ ...handlers, tenant, proof, signal });
    return new Promise(() => undefined);
  };
  const openTenants = (): string[] =>
    opened.filter(({ signal }) => !signal.aborted).map(({ tenant }) => tenant);
  return { hub: new EventHub(follow, () => clock.now), opened, openTenants, clock };
}

class Tab {
  readonly got: HubMessage[] = [];
  readonly #hub: EventHub;
  readonly #port = { send: (message: HubMessage): void => void this.got.push(message) };

  constructor(hub: EventHub) {
    this.#hub = hub;
  }

  follow(tenant: string, isVisible = true, proof: Subscription['proof'] = null): void {
    this.#hub.receive(this.#port, { kind: 'follow', proof, tenant, isVisible });
  }

  leave(): void {
    this.#hub.receive(this.#port, { kind: 'leave' });
  }

  get state(): string {
    return this.got.findLast((message) => message.kind === 'status')?.state ?? 'none';
  }
}

describe('the hub of all tabs', () => {
  it('opens one stream for all tabs of a tenant and a session, and closes it after the last', () => {
    const { hub, opened, openTenants } = aHub();
    const [one, other] = [new Tab(hub), new Tab(hub)];
    one.follow('acme');
    other.follow('acme');
    expect(opened).toHaveLength(1);
    opened[0]?.onConnection('open');
    opened[0]?.onEvent({ id: '7', type: 'registry.changed', data: {} });
    for (const tab of [one, other]) {
      expect(tab.state).toBe('live');
      expect(tab.got.at(-1)).toMatchObject({ kind: 'event', event: { id: '7' } });
    }
    one.leave();
    expect(openTenants()).toEqual(['acme']);
    other.leave();
    expect(openTenants()).toEqual([]);
  });

  it('reports the join to each tab, also to one that was removed for missing heartbeats', () => {
    const { hub, opened, clock } = aHub();
    const [frozen, busy] = [new Tab(hub), new Tab(hub)];
    frozen.follow('acme');
    busy.follow('acme');
    opened[0]?.onConnection('open');
    clock.now += 400_000;
    busy.follow('acme');
    expect(busy.got.at(-1)).toMatchObject({ state: 'live', isNew: false });
    opened[0]?.onEvent({ id: '8', type: 'registry.changed', data: {} });
    expect(frozen.got.filter(({ kind }) => kind === 'event')).toEqual([]);
    frozen.follow('acme');
    expect(frozen.got.at(-1)).toMatchObject({ state: 'live', isNew: true });
  });

  it('moves a tab to the stream of its new session after a sign-in', () => {
    const { hub, opened } = aHub();
    const tab = new Tab(hub);
    tab.follow('acme', true, null);
    tab.follow('acme', true, 'proof');
    expect(opened.map(({ proof, signal }) => [proof, signal.aborted])).toEqual([
      [null, true],
      ['proof', false],
    ]);
    opened[0]?.onConnection('open');
    expect(tab.state).toBe('connecting');
  });

  it('uses half of the connections: pauses the least recently shown subscription, and resumes it when shown', () => {
    const { hub, opened, openTenants, clock } = aHub();
    const tabs = ['a', 'b', 'c', 'd', 'e'].map((tenant) => {
      clock.now += 1000;
      const tab = new Tab(hub);
      tab.follow(tenant);
      tab.follow(tenant, false);
      return tab;
    });
    expect(MAX_STREAMS).toBe(3);
    expect(openTenants()).toEqual(['c', 'd', 'e']);
    expect(tabs[0]?.state).toBe('paused');
    clock.now += 1000;
    tabs[0]?.follow('a');
    expect(openTenants()).toEqual(['d', 'e', 'a']);
    expect(tabs[0]?.state).toBe('connecting');
    // A visible tab stays, however long ago it was shown; heartbeats change nothing.
    for (const tenant of ['b', 'c', 'd']) {
      clock.now += 1000;
      tabs[0]?.follow('a');
      const tab = tabs[['a', 'b', 'c', 'd'].indexOf(tenant)];
      tab?.follow(tenant);
      tab?.follow(tenant, false);
    }
    expect(openTenants()).toContain('a');
    expect(opened.filter(({ tenant }) => tenant === 'a')).toHaveLength(2);
  });

  it('reports why a stream is down, and when it is live again', () => {
    const { hub, opened } = aHub();
    const tab = new Tab(hub);
    tab.follow('acme');
    opened[0]?.onProblem({ code: 'auth_required', message: 'a credential is needed' });
    expect(tab.got.at(-1)).toMatchObject({ state: 'lost', problem: { code: 'auth_required' } });
    opened[0]?.onConnection('open');
    expect(tab.got.at(-1)).toMatchObject({ state: 'live', problem: null });
  });
});
