// A page that registers tools for its canvas, its location and its clipboard.
import { connectDevice, deviceTool } from '@patchboard/client';
import { connection } from './connection.ts';

const canvas = document.querySelector('canvas') as HTMLCanvasElement;
const state = document.querySelector('#state') as HTMLElement;
const log = document.querySelector('#log') as HTMLElement;

canvas.getContext('2d')?.fillText(`drawn at ${new Date().toLocaleTimeString()}`, 20, 65);

const screenshot = deviceTool<{ scale?: number }>({
  name: 'browser.screenshot',
  description: 'A picture of the canvas on the page, as PNG in base64.',
  parameters: { type: 'object', properties: { scale: { type: 'number', exclusiveMinimum: 0, maximum: 2 } } },
  annotations: { readonly: true },
  run: ({ scale = 1 }) => {
    const copy = document.createElement('canvas');
    copy.width = canvas.width * scale;
    copy.height = canvas.height * scale;
    copy.getContext('2d')?.drawImage(canvas, 0, 0, copy.width, copy.height);
    const [, base64 = ''] = copy.toDataURL('image/png').split(',');
    return { media_type: 'image/png', width: copy.width, height: copy.height, base64 };
  },
});

const geolocation = deviceTool({
  name: 'browser.geolocation',
  description: 'Where the person in front of the page is. The browser asks them.',
  annotations: { readonly: true, requiresApproval: true },
  run: async (_args, { signal }) =>
    await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      navigator.geolocation.getCurrentPosition(
        ({ coords }) =>
          resolve({ latitude: coords.latitude, longitude: coords.longitude, accuracy_m: coords.accuracy }),
        (error) => reject(new Error(error.message)),
      );
    }),
});

const clipboard = deviceTool({
  name: 'clipboard.read',
  description: 'The text on the clipboard. The browser asks the person in front of it.',
  annotations: { readonly: true, requiresApproval: true },
  run: async () => ({ text: await navigator.clipboard.readText() }),
});

const { server, ticket } = await connection();
connectDevice(server, {
  name: 'browser-page',
  tools: [screenshot, geolocation, clipboard],
  // A ticket is single-use: each connection needs a new one.
  ...(ticket === null ? {} : { ticket: async () => (await connection()).ticket ?? '' }),
  onState: (next) => void (state.textContent = next),
  onProblem: ({ message }) => log.append(`${message}\n`),
});
