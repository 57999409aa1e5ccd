import { reason } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { decodeFrame, decodeSpecs } from './decode-frame.ts';

const LIMITS = { depth: 10, values: 100 };

describe('a frame of a device', () => {
  it('is refused with a coded reason beside the message', () => {
    expect(decodeFrame('{"type": 01}', LIMITS)).toMatchObject({
      failure: {
        message: 'the frame is not acceptable JSON: a number must not start with 0 (line 1, column 10)',
        reasons: [{ code: 'frame_not_json', params: { problem: [reason('json_leading_zero')], line: 1 } }],
      },
    });
    expect(decodeFrame('{"type": "hallo"}', LIMITS)).toMatchObject({
      fault: 'UNKNOWN_MESSAGE_TYPE',
      failure: { reasons: [{ code: 'frame_type_unknown', params: { type: 'hallo' } }] },
    });
  });

  it("is refused with the device API's name for the schema, parameters", () => {
    const { rejected } = decodeSpecs([
      { name: 'a' },
      { name: 'b', parameters: 1 },
      { name: 'schema lookup', parameters: {}, output_schema: 1 },
    ]);
    expect(rejected).toEqual([
      {
        name: 'a',
        code: 'schema_invalid',
        reason: 'parameters is required',
        reasons: [reason('spec_member_missing', { member: 'parameters' })],
      },
      {
        name: 'b',
        code: 'schema_invalid',
        reason: 'parameters must be a JSON Schema: an object or a boolean',
        reasons: [reason('spec_not_schema', { member: 'parameters' })],
      },
      {
        name: 'schema lookup',
        code: 'schema_invalid',
        reason: 'output_schema must be a JSON Schema: an object or a boolean',
        reasons: [reason('spec_not_schema', { member: 'output_schema' })],
      },
    ]);
  });
});
