import type { TransientEvent } from '../core/peers.ts';
import type { Announcements } from './announcements.ts';
import type { AttachedClients } from './attached-clients.ts';
import type { ClusterPolls } from './cluster-polls.ts';
import type { EngineCallbacks } from './engine-callbacks.ts';
import type { FenceGuard } from './fence-guard.ts';
import type { Notification } from './notification.ts';
import type { SharedLedger } from './shared-ledger.ts';

export interface ReceivedParts {
  readonly engine: EngineCallbacks;
  readonly ledger: SharedLedger;
  readonly clients: AttachedClients;
  readonly announcements: Announcements;
  readonly polls: ClusterPolls;
  readonly guard: FenceGuard;
}

/** Passes a notification of another node to the part that it is for. */
export function received(parts: ReceivedParts, notification: Notification, from: number): void {
  const { engine, ledger, clients, announcements, polls, guard } = parts;
  switch (notification.kind) {
    case 'moved':
    case 'ended':
      for (const [id, version] of notification.calls) engine.refresh(id, version);
      return;
    case 'grown':
      return ledger.grown();
    case 'wake_client': {
      const { tenant, client: clientId, call: id, version } = notification;
      return clients.notified({ tenant, clientId, id, version });
    }
    case 'config':
      return guard.start(() => announcements.received(from, notification.revision));
    case 'work':
      return polls.takingOffered.now();
    case 'rates':
      for (const [bucket, tokens] of notification.spent) engine.spent(bucket, tokens);
      return;
    case 'transient':
      // Written by the outbox of another node.
      return engine.publish(notification.event as TransientEvent);
    case 'signal':
      return engine.signal(notification.topic, notification.body);
    case 'session_taken':
      return engine.closeSession(notification.session);
    case 'run_cancelled':
      return engine.endRun(notification.tenant, notification.run);
    case 'given':
    case 'leaving':
      return polls.takingMissing.now();
  }
}
