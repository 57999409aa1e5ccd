import { MANY, RARE, type Mutant } from './mutant.ts';

/** Faults between nodes that share a store. */
export const CLUSTER_MUTANTS: readonly Mutant[] = [
  {
    name: 'keeps a fenced process at work',
    file: 'core/steps/fencing.ts',
    find: 'lifecycle.fence(problem);',
    replace: '',
    seeds: MANY,
  },
  {
    name: 'begins work without a lease',
    file: 'core/providers/local-runner.ts',
    find: 'if (!parts.peers.hasLease()) return runWithLease(parts, tool, live, hasBegun);',
    replace: '',
    seeds: RARE,
  },
  {
    name: 'keeps working on a call that another node took',
    file: 'core/call/shared-calls.ts',
    find: "live.stop.fire('deadlineAt' in current.state ? MOVED : outcomeOf(current.state));",
    replace: '',
    seeds: RARE,
  },
  {
    name: 'keeps the slot of a call that another node took',
    file: 'core/call/shared-calls.ts',
    find: "this.#calls.release(live, 'error' in current.state ? current.state.error.code : null, before);",
    replace: '',
    seeds: MANY,
  },
  {
    name: 'does not wake the waits for a call that ended on another node',
    file: 'core/steps/call-notifier.ts',
    find: 'if (!isOpen(call)) this.#waiters.wake(call);',
    replace: 'if (!isOpen(call)) return;',
    seeds: MANY,
  },
  {
    name: 'does not adopt a borrowed call that it moved',
    file: 'core/call/shared-calls.ts',
    find: "live.ownership = 'adopted';",
    replace: 'return;',
    seeds: MANY,
  },
  {
    name: 'lets a node write that was taken over',
    file: 'test/support/memory-nodes.ts',
    find: "return row?.epoch === epoch && row.state !== 'free';",
    replace: 'return row !== undefined && epoch > 0;',
    seeds: MANY,
  },
  {
    name: 'takes a notification for the truth',
    file: 'core/call/shared-calls.ts',
    find: 'current = await this.#parts.store.findCall(id);',
    replace: `const known = this.#calls.find(id)?.call;
      const isTold = known !== undefined && known.version < version && Number.isFinite(version);
      current = isTold ? { ...known, version } : await this.#parts.store.findCall(id);`,
    seeds: MANY,
  },
  {
    name: 'sweeps by its own wall clock',
    file: 'cluster/cluster-services.ts',
    find: 'const own = { table, bus, clock, guard,',
    replace: `const wall = {
      now: () => parts.clock.now(),
      elapsed: () => parts.clock.elapsed(),
      after: (ms: number, action: () => void) => parts.clock.after(ms, action),
      isCautious: false,
    } as unknown as DatabaseClock;
    const own = { table, bus, clock: wall, guard,`,
    seeds: MANY,
  },
  {
    name: 'takes an announced revision for an applied one',
    file: 'cluster/announcements.ts',
    find: `if (revision <= this.#revision) return;
    await this.catchUp();`,
    replace: 'if (revision <= this.#revision) return;\n    this.#revision = revision;',
    seeds: MANY,
  },
  {
    name: 'skips a revision',
    file: 'core/shared-changes.ts',
    find: 'this.#revision = Math.max(this.#revision, changes.revision);',
    replace: 'this.#revision = Math.max(this.#revision, changes.revision + 1);',
    seeds: MANY,
  },
  {
    name: 'accepts a key that another node has revoked',
    file: 'core/access/key-service.ts',
    find: 'if (key === null) this.index.revoke(id);\n    else',
    replace: 'if (key !== null)',
    seeds: MANY,
  },
];
