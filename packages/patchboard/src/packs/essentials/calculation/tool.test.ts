import { describe, expect, it } from 'vitest';

import { ToolFailure } from '../../../core/failures.ts';
import { aContext } from '../__fixtures__/context.ts';
import { calculationTool } from './tool.ts';

describe('calculation.eval', () => {
  it('answers with the value', async () => {
    await expect(calculationTool().execute({ expression: '(3+4)*6' }, aContext())).resolves.toEqual({
      value: 42,
    });
  });

  it('fails, rather than answer with what JSON cannot hold', async () => {
    await expect(calculationTool().execute({ expression: '0/0' }, aContext())).rejects.toThrow(ToolFailure);
  });

  it('refuses arguments that no schema let through', async () => {
    await expect(calculationTool().execute({}, aContext())).rejects.toThrow('expression must be a string');
  });
});
