import type { Statement } from '../../postgres/connection.ts';
import { STATE_CODES } from '../state-codes.ts';
import type { Tables } from './schema.ts';
import { freeWriterStatement } from './writer-slot.ts';

/** The statements that pass calls between nodes. `$1` is the writer of this node. */
export interface NodeStatements {
  /** Locks the row of this node against a takeover, if it still has the epoch `$2`. Its heartbeat goes on. */
  readonly hold: Statement;
  /** Locks the row of a node that seems dead: writer, epoch, beat. */
  readonly lockDead: Statement;
  /** Takes all calls of the writer `$2`. */
  readonly takeAll: Statement;
  /** Frees the writer and ends the epoch, so that no write of its holder outside of a batch succeeds any more. */
  readonly freeDead: Statement;
  readonly recordTakeover: Statement;
  readonly tookOver: Statement;
  readonly taken: Statement;
  /** Parameters: epoch, deadlines from and before, limit, owners or null. */
  readonly claimOverdue: Statement;
  readonly movedByOthers: Statement;
  readonly places: Statement;
  readonly waitingFor: Statement;
  readonly offer: Statement;
  /** Parameters: limit, the id after which they begin. */
  readonly offered: Statement;
  /** Parameters: epoch, ids. */
  readonly takeOffered: Statement;
  /** The home of the run `$1`, `$2`. Locked, so that one of several nodes becomes it. */
  readonly home: Statement;
  /** Whether the node `$1` at epoch `$2`, or any if null, lives and does not shut down. Locked against a takeover. */
  readonly lives: Statement;
  /** Parameters: epoch, place, tenant, run. */
  readonly setHome: Statement;
  /** Gives the call `$2` at version `$3` to the node `$4`. */
  readonly give: Statement;
  /** Locks the node that gets the calls: `$2` if it lives, otherwise the one with most room. */
  readonly successor: Statement;
  readonly handOver: Statement;
  readonly free: Statement;
}

/** The most rows that a poll reads. The next poll finds the others. */
const POLLED = 1000;

export function nodeStatements(tables: Tables): NodeStatements {
  const { writers, runs, calls, open_calls: open, ended_calls: ended } = tables;
  const held = `select 1 as found from ${writers}
    where writer = $1 and epoch = $2 and state <> 'free' for key share`;
  // The lock of the own row is taken only if there is a call to take.
  const take = (due: string): string => `with held as (${held}), due as (${due} for update skip locked)
    update ${open} o set owner = $1, version = o.version + 1, moved_by = null, offered = false
    from due where o.id = due.id and exists (select from held) returning o.id, o.version, o.owner, true as is_open`;
  return {
    hold: { name: 'hold_writer', text: held },
    lockDead: {
      name: 'lock_dead',
      text: `select 1 as found from ${writers} where writer = $1 and epoch = $2 and beat = $3 and state <> 'free'
        for update skip locked`,
    },
    takeAll: {
      name: 'take_all',
      text: `update ${open} set owner = $1, moved_by = null, offered = false where owner = $2 returning id`,
    },
    freeDead: {
      name: 'free_dead',
      text: `update ${writers} set state = 'free', holder = null, epoch = epoch + 1 where writer = $1
        returning (extract(epoch from clock_timestamp()) * 1000)::int8 as at`,
    },
    recordTakeover: {
      name: 'record_takeover',
      text: `update ${writers} set took_over = $2 where writer = $1`,
    },
    tookOver: { name: 'took_over', text: `select took_over from ${writers} where writer = $1` },
    taken: {
      name: 'taken_calls',
      text: `select id, version from ${open} where owner = $1 and moved_by is null order by id`,
    },
    claimOverdue: {
      name: 'claim_overdue',
      text: take(`select id from ${open} where deadline_at >= $3 and deadline_at < $4 and owner <> $1
        and ($6::int4[] is null or owner = any($6)) order by deadline_at limit $5`),
    },
    movedByOthers: {
      name: 'moved_by_others',
      text: `select id, version, owner, true as is_open from ${open}
        where owner = $1 and moved_by <> owner limit ${POLLED}`,
    },
    places: {
      name: 'call_places',
      text: `select x.id, s.version, s.owner, s.is_open from unnest($1::text[]) as x (id)
        cross join lateral (
          (select version, owner, true as is_open from ${open} where id = x.id limit 1) union all
          (select version, owner, false from ${ended} where id = x.id limit 1) limit 1) s`,
    },
    waitingFor: {
      name: 'waiting_for_clients',
      text: `select o.id, o.version, x.tenant, x.client
        from unnest($2::text[], $3::text[]) as x (tenant, client)
        cross join lateral (select id, version from ${open}
          where client_id = x.client and owner <> $1 and offered
            and state in (${STATE_CODES.PENDING}, ${STATE_CODES.APPROVED}) order by id limit ${POLLED}) o
        cross join lateral (select tenant from ${calls} where id = o.id limit 1) c
        where c.tenant = x.tenant order by o.id`,
    },
    offer: {
      name: 'offer_calls',
      text: `update ${open} o set offered = true from unnest($2::text[], $3::int4[]) as x (id, version)
        where o.id = x.id and o.version = x.version and o.owner = $1`,
    },
    offered: {
      name: 'offered_calls',
      text: `select o.id, c.tenant, c.tool_name, c.tool_version
        from (select id from ${open} where offered and client_id is null and owner <> $1 and id > $3
          order by id limit $2) o
        cross join lateral (select tenant, tool_name, tool_version from ${calls} where id = o.id limit 1) c order by o.id`,
    },
    takeOffered: {
      name: 'take_offered',
      text: take(`select id from ${open} where id = any($3::text[]) and offered and owner <> $1 order by id`),
    },
    home: {
      name: 'home_of_run',
      text: `select home, home_epoch, home_place from ${runs} where tenant = $1 and id = $2 for no key update`,
    },
    lives: {
      name: 'node_lives',
      text: `select 1 as found from ${writers} where writer = $1 and ($2::int8 is null or epoch = $2)
        and state = 'held' and is_shared for key share skip locked`,
    },
    setHome: {
      name: 'set_home',
      text: `update ${runs} set home = $1, home_epoch = $2, home_place = $3 where tenant = $4 and id = $5`,
    },
    give: {
      name: 'give_call',
      text: `update ${open} set owner = $4, version = version + 1, moved_by = null, offered = false
        where id = $2 and version = $3 and owner = $1`,
    },
    successor: {
      name: 'successor',
      text: `select writer from ${writers} where writer <> $1 and state = 'held' and is_shared
        order by (writer = $2) is true desc, room desc, writer limit 1 for key share skip locked`,
    },
    handOver: {
      name: 'hand_over',
      text: `update ${open} set owner = $2, moved_by = null, offered = false where owner = $1`,
    },
    free: freeWriterStatement(tables),
  };
}
