import type { Principal } from '../access/principal.ts';
import { callCharacters, PAGE_CHARACTERS } from '../call/call-size.ts';
import type { Call } from '../call/call.ts';
import type { Runs } from '../call/runs.ts';
import { maySeeCall, onlyAgent } from '../call/visibility.ts';
import { BadCursor, type Page, type Store } from '../ports.ts';
import type { CallCriteria, CallSort, FoundCall } from './call-search.ts';
import { indexHasReached, type IndexProgressParts } from './index-progress.ts';
import { criteriaOf, storeFilter, type WantedCalls } from './list-criteria.ts';
import { parseListCursor, searchCursor, storeCursor, type ListCursor } from './list-cursor.ts';
import { openMatches, type OpenMatches, type OpenMatchesParts } from './open-matches.ts';
import { compareFound, mergeFound, type FoundOpenCall } from './sorted-calls.ts';

export interface CallListsParts extends OpenMatchesParts, IndexProgressParts {
  readonly store: Store;
  readonly clock: OpenMatchesParts['clock'] & IndexProgressParts['clock'];
  readonly runs: Pick<Runs, 'find'>;
}

export interface CallListRequest extends WantedCalls {
  readonly sort: CallSort;
  readonly cursor: string | null;
  readonly limit: number;
  /** The time of the first page: durations of open calls, and times in the query, are relative to it. */
  readonly startedAt: number;
}

export interface CallListPage extends Page<Call> {
  /** False: calls that ended a moment ago, or some of very many open calls, may be missing. */
  readonly isComplete: boolean;
}

const NOTHING: CallListPage = { items: [], nextCursor: null, isComplete: true };
/** Calls that are read together, so that large ones are not all held at once. */
const READ_AT_ONCE = 16;
/** How often a page is filled up after calls of the index were no longer stored. */
const ROUNDS = 4;

/** Lists calls by any query, in any order: open calls from memory or the store, ended ones from the index. */
export class CallLists {
  readonly #parts: CallListsParts;

  constructor(parts: CallListsParts) {
    this.#parts = parts;
  }

  /** Lists the calls that match and that the principal may see. Throws `BadCursor` for a cursor of another list. */
  async list(principal: Principal, request: CallListRequest): Promise<CallListPage> {
    const cursor = request.cursor === null ? null : parseListCursor(request.cursor);
    const criteria = await this.#ownRun(principal, criteriaOf(principal, request));
    if (criteria === null) return NOTHING;
    const filter = storeFilter(criteria, request.sort);
    if (filter === null) return await this.#search(principal, criteria, request, cursor);
    if (cursor !== null && cursor.sort !== null) throw new BadCursor();
    const { startedAt, limit } = request;
    const page = await this.#parts.store.listCalls(filter, cursor?.id ?? null, limit);
    const nextCursor = page.nextCursor === null ? null : storeCursor(startedAt, page.nextCursor);
    return { items: page.items, nextCursor, isComplete: true };
  }

  /** An agent may name its run by the id of another agent's run, see `ownRunId`. */
  async #ownRun(principal: Principal, criteria: CallCriteria | null): Promise<CallCriteria | null> {
    if (criteria?.runId === undefined || onlyAgent(principal) === null) return criteria;
    const run = await this.#parts.runs.find(principal, criteria.runId);
    return run === undefined ? criteria : { ...criteria, runId: run.id };
  }

  async #search(
    principal: Principal,
    criteria: CallCriteria,
    { sort, startedAt, limit }: CallListRequest,
    cursor: ListCursor | null,
  ): Promise<CallListPage> {
    if (cursor !== null && !isSameSort(cursor.sort, sort)) throw new BadCursor();
    // Open calls first: one that ends meanwhile is found twice, not missed.
    const open = await openMatches(this.#parts, criteria, sort, startedAt);
    const isComplete = (await indexHasReached(this.#parts)) && open.isComplete;
    const page = new PageOfCalls(limit);
    const { items } = page;
    for (let round = 1; ; round += 1) {
      const merged = await this.#foundAfter(criteria, sort, open, page.last ?? cursor, limit + 1);
      const isListed = (call: Call): boolean => maySeeCall(principal, call) && isInStates(call, criteria);
      await this.#read(merged.slice(0, limit), page, isListed);
      const { last } = page;
      if (last === null || merged.length === 0 || merged.at(-1)?.id === last.id)
        return { items, nextCursor: null, isComplete };
      if (page.isFull || round >= ROUNDS)
        return { items, nextCursor: searchCursor(startedAt, sort, last), isComplete };
    }
  }

  async #foundAfter(
    criteria: CallCriteria,
    sort: CallSort,
    open: OpenMatches,
    after: FoundCall | null,
    limit: number,
  ): Promise<readonly (FoundCall | FoundOpenCall)[]> {
    const ended = (await this.#parts.store.search?.find(criteria, sort, after, limit)) ?? [];
    const rest =
      after === null ? open.found : open.found.filter((found) => compareFound(found, after, sort) > 0);
    return mergeFound(rest, ended, sort);
  }

  /** Adds calls to the page until it is full. Those that are no longer stored, or not `isListed` now, are left out. */
  async #read(
    found: readonly (FoundCall | FoundOpenCall)[],
    page: PageOfCalls,
    isListed: (call: Call) => boolean,
  ): Promise<void> {
    for (let start = 0; start < found.length && !page.isFull; start += READ_AT_ONCE) {
      const some = found.slice(start, start + READ_AT_ONCE);
      const calls = await Promise.all(some.map((one) => this.#callOf(one)));
      for (const [index, one] of some.entries()) {
        if (page.isFull) break;
        const call = calls[index];
        page.add(one, call !== undefined && isListed(call) ? call : undefined);
      }
    }
  }

  async #callOf(found: FoundCall | FoundOpenCall): Promise<Call | undefined> {
    const inMemory = 'call' in found ? found.call : null;
    return inMemory ?? (await this.#parts.store.findCall(found.id));
  }
}

/** A page that ends at its limit, or when its calls are large. */
class PageOfCalls {
  readonly items: Call[] = [];
  /** The last call that was added or left out. */
  last: FoundCall | null = null;
  readonly #limit: number;
  #characters = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.items.length >= this.#limit || this.#characters >= PAGE_CHARACTERS;
  }

  add(found: FoundCall, call: Call | undefined): void {
    this.last = found;
    if (call === undefined) return;
    this.items.push(call);
    this.#characters += callCharacters(call);
  }
}

/** An open call of another node may have moved since it was found. */
function isInStates({ state }: Call, { states }: CallCriteria): boolean {
  return states === undefined || states.includes(state.name);
}

function isSameSort(one: CallSort | null, other: CallSort): boolean {
  return one?.by === other.by && one.isAscending === other.isAscending;
}
