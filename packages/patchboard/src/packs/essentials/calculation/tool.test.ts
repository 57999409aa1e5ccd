import { describe, expect, it } from 'vitest';

import { ToolFailure } from '../../../core/failures.ts';
import { aContext } from '../__fixtures__/context.ts';
import { calculationTool } from './tool.ts';

describe('calculation.eval', () => {
  it('returns the value', async () => {
    await expect(calculationTool().execute({ expression: '(3+4)*6' }, aContext())).resolves.toEqual({
      value: 42,
    });
  });

  it('fails for a value that JSON cannot represent', async () => {
    await expect(calculationTool().execute({ expression: '0/0' }, aContext())).rejects.toThrow(ToolFailure);
  });

  it('refuses arguments that do not match the schema', async () => {
    await expect(calculationTool().execute({}, aContext())).rejects.toThrow('expression must be a string');
  });
});
