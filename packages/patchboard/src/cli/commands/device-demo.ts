import { deviceTool, type DeviceTool } from '@patchboard/client';

const CONTACTS = [
  { name: 'Ada Lovelace', phone: '+44 20 0000 0001' },
  { name: 'Grace Hopper', phone: '+1 212 000 0002' },
  { name: '李雷', phone: '+86 10 0000 0003' },
  { name: '韩梅梅', phone: '+86 10 0000 0004' },
] as const;

/** A PNG with one grey pixel. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';

const READINGS = {
  accelerometer: { x: 0, y: 0, z: 9.81, unit: 'm/s²' },
  gyroscope: { x: 0, y: 0, z: 0, unit: 'rad/s' },
  gps: { latitude: 22.5431, longitude: 114.0579, accuracy_m: 12 },
} as const;

/** Returns the tools of a demo phone. Every result is marked as a demo. */
export function demoTools(): readonly DeviceTool[] {
  return [
    deviceTool({
      name: 'device_info',
      description: 'Model, maker and system version of the phone (demo).',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      annotations: { readonly: true, idempotent: true },
      run: () => ({ demo: true, model: 'Demo phone', manufacturer: 'Patchboard', android_version: '14' }),
    }),
    deviceTool<{ quality?: string }>({
      name: 'camera',
      description: 'Takes a picture (demo: one grey pixel).',
      parameters: {
        type: 'object',
        properties: { quality: { type: 'string', enum: ['low', 'medium', 'high'] } },
        additionalProperties: false,
      },
      annotations: { requiresApproval: true },
      run: ({ quality = 'medium' }) => ({ demo: true, quality, media_type: 'image/png', base64: PICTURE }),
    }),
    deviceTool<{ query: string }>({
      name: 'contacts',
      description: 'Finds contacts by a part of their name (demo: four made-up people).',
      parameters: {
        type: 'object',
        properties: { query: { type: 'string' } },
        required: ['query'],
        additionalProperties: false,
      },
      annotations: { readonly: true, idempotent: true },
      run: ({ query }) => ({
        demo: true,
        contacts: CONTACTS.filter(({ name }) => name.toLowerCase().includes(query.toLowerCase())),
      }),
    }),
    deviceTool<{ type: keyof typeof READINGS }>({
      name: 'sensors',
      description: 'Reads a sensor (demo: always the same values).',
      parameters: {
        type: 'object',
        properties: { type: { type: 'string', enum: Object.keys(READINGS) } },
        required: ['type'],
        additionalProperties: false,
      },
      annotations: { readonly: true, idempotent: true },
      run: ({ type }) => ({ demo: true, type, reading: READINGS[type] }),
    }),
  ];
}
