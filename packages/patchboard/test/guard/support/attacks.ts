/** The attacks of a foreign page. They run inside the browser, so they must be self-contained. */
export interface Attack {
  readonly name: string;
  readonly run: (target: string) => Promise<string>;
}

const INVOKE = '/v1/tools/toy.echo/invoke';
const BODY = '{"run_id":"stolen","args":{"from":"page"}}';

/** Each resolves when its outcome is known. */
export const ATTACKS: readonly Attack[] = [
  {
    name: 'fetch with CORS and JSON',
    run: async (target) =>
      await fetch(target + '/v1/tools/toy.echo/invoke', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"run_id":"stolen","args":{"from":"page"}}',
        credentials: 'include',
      }).then(
        (response) => `read ${response.status}`,
        () => 'blocked',
      ),
  },
  {
    name: 'fetch without CORS, as text/plain',
    run: async (target) =>
      await fetch(target + '/v1/tools/toy.echo/invoke', {
        method: 'POST',
        mode: 'no-cors',
        headers: { 'content-type': 'text/plain' },
        body: '{"run_id":"stolen","args":{"from":"page"}}',
        credentials: 'include',
      }).then(
        (response) => response.type,
        () => 'blocked',
      ),
  },
  {
    name: 'fetch without CORS and without a body',
    run: async (target) =>
      await fetch(target + '/v1/tools/toy.echo/invoke', {
        method: 'POST',
        mode: 'no-cors',
        credentials: 'include',
      }).then(
        (response) => response.type,
        () => 'blocked',
      ),
  },
  {
    name: 'fetch of what only reads',
    run: async (target) =>
      await fetch(target + '/v1/tool_calls', { credentials: 'include' }).then(
        async (response) => `read ${await response.text()}`,
        () => 'blocked',
      ),
  },
  ...(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'] as const).map((type) => ({
    name: `a form of ${type}`,
    run: formAttack(type),
  })),
  {
    name: 'an image that takes the place of a client',
    run: async (target) =>
      await new Promise<string>((resolve) => {
        const image = new Image();
        image.onload = () => resolve('loaded');
        image.onerror = () => resolve('blocked');
        image.src = target + '/internal/clients/lender/requests';
      }),
  },
  {
    name: 'a script tag',
    run: async (target) =>
      await new Promise<string>((resolve) => {
        const script = document.createElement('script');
        script.onload = () => resolve('loaded');
        script.onerror = () => resolve('blocked');
        script.src = target + '/v1/tools';
        document.head.append(script);
      }),
  },
  {
    name: 'a WebSocket',
    run: async (target) =>
      await new Promise<string>((resolve) => {
        const socket = new WebSocket(target.replace('http', 'ws') + '/ws');
        socket.onopen = () => resolve('open');
        socket.onerror = () => resolve('blocked');
      }),
  },
  {
    name: 'an EventSource',
    run: async (target) =>
      await new Promise<string>((resolve) => {
        const source = new EventSource(target + '/v1/events', { withCredentials: true });
        source.onopen = () => resolve('open');
        source.onerror = () => {
          source.close();
          resolve('blocked');
        };
      }),
  },
  ...(['text/plain', 'application/json'] as const).map((type) => ({
    name: `a beacon of ${type}`,
    run: beaconAttack(type),
  })),
];

/** A function sent to the page has no closure, so its parameters are written into its source. */
function written(text: string): (target: string) => Promise<string> {
  // oxlint-disable-next-line typescript/no-implied-eval
  return new Function(`return ${text}`)() as (target: string) => Promise<string>;
}

function formAttack(type: string): (target: string) => Promise<string> {
  return written(`(target) => new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.name = 'frame' + Math.random();
    document.body.append(frame);
    const form = document.createElement('form');
    Object.assign(form, { method: 'post', enctype: '${type}', target: frame.name, action: target + '${INVOKE}' });
    const field = document.createElement('input');
    Object.assign(field, { name: '{"run_id":"stolen","args":{"a":"', value: '"}}' });
    form.append(field);
    document.body.append(form);
    frame.onload = () => resolve('responded');
    form.submit();
  })`);
}

/** Beacons report no result; the browser's resource timing does. */
function beaconAttack(type: string): (target: string) => Promise<string> {
  return written(`(target) => new Promise((resolve) => {
    const url = target + '${INVOKE}?beacon=${type.replace('/', '-')}';
    new PerformanceObserver((list) => {
      if (list.getEntries().some((entry) => entry.name === url)) resolve('sent');
    }).observe({ type: 'resource' });
    navigator.sendBeacon(url, new Blob(['${BODY}'], { type: '${type}' }));
  })`);
}
