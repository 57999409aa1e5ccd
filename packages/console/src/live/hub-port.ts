import { EventHub } from './event-hub.ts';
import type { HubMessage, TabMessage } from './hub-messages.ts';
import { followServer } from './server-stream.ts';

/** The tab's end of the channel to the hub. */
export interface HubPort {
  /** False: the hub is this tab's own, and so is its stream. */
  readonly isShared: boolean;
  send(message: TabMessage): void;
  close(): void;
}

export interface PortHandlers {
  readonly onMessage: (message: HubMessage) => void;
  /** The shared worker could not be started. */
  readonly onError: () => void;
}

/** Returns null if the browser has no shared workers, or does not let this page use them. */
export function sharedPort({ onMessage, onError }: PortHandlers): HubPort | null {
  if (typeof SharedWorker === 'undefined') return null;
  let worker: SharedWorker;
  try {
    worker = new SharedWorker(new URL('./shared-worker.ts', import.meta.url), {
      type: 'module',
      name: 'patchboard-events',
    });
  } catch {
    return null;
  }
  const { port } = worker;
  worker.addEventListener('error', onError);
  port.addEventListener('message', ({ data }: MessageEvent<HubMessage>) => onMessage(data));
  port.start();
  return {
    isShared: true,
    send: (message) => port.postMessage(message),
    close() {
      worker.removeEventListener('error', onError);
      port.close();
    },
  };
}

/** A hub for this tab alone. */
export function ownPort({ onMessage }: PortHandlers): HubPort {
  const hub = new EventHub(followServer);
  let isOpen = true;
  const tab = {
    send: (message: HubMessage) => {
      if (isOpen) onMessage(message);
    },
  };
  return {
    isShared: false,
    send: (message) => hub.receive(tab, message),
    close() {
      isOpen = false;
      hub.receive(tab, { kind: 'leave' });
    },
  };
}
