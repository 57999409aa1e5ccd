// A device whose tool asks its caller for a missing value while it runs, and a caller that responds.
//
//   node examples/device-that-asks.ts

import { connectDevice, createClient, deviceTool } from '@patchboard/client';

const url = process.env['PATCHBOARD_URL'] ?? 'http://127.0.0.1:8080';

const device = connectDevice(url, {
  name: 'camera-phone',
  tools: [
    deviceTool<{ quality?: string }>({
      name: 'phone.photo',
      description: 'Takes a picture; asks which camera to use.',
      annotations: { asksInput: true },
      timeoutMs: 10_000, // The time until the caller responds does not count.
      run: async ({ quality = 'medium' }, { requestInput }) => {
        const { camera } = (await requestInput({
          message: 'Which camera?',
          schema: {
            type: 'object',
            properties: { camera: { enum: ['front', 'back'] } },
            required: ['camera'],
          },
        })) as { camera: string };
        return { picture: `${camera}-${quality}.jpg` };
      },
    }),
  ],
});
await device.ready;

const { result } = await createClient({ url }).call(
  'phone.photo',
  { quality: 'high' },
  {
    onInputRequest: ({ message }) => {
      console.log(message);
      return { camera: 'back' };
    },
  },
);
console.log(result);
await device.close();
