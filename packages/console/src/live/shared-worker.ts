import { EventHub } from './event-hub.ts';
import type { HubMessage, TabMessage } from './hub-messages.ts';
import { followServer } from './server-stream.ts';

/** The hub of all tabs of this browser. It ends with the last of them. */
const hub = new EventHub(followServer);

globalThis.addEventListener('connect', (event) => {
  for (const port of (event as MessageEvent).ports) {
    const tab = { send: (message: HubMessage) => port.postMessage(message) };
    port.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => hub.receive(tab, data));
    port.start();
  }
});
