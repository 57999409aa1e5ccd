import { describe, expect, it } from 'vitest';
import { ByteBudget } from '../shared/http/byte-budget.ts';
import { UnfinishedMessage } from './unfinished-message.ts';

/** A message and its socket, whose `bytesRead` the test increases. */
function aMessage(budget = new ByteBudget(1_000_000), tenant = 'default') {
  const socket = { bytesRead: 500 };
  const message = new UnfinishedMessage({ budget, tenant, bytesRead: () => socket.bytesRead });
  return { socket, message, budget };
}

describe('UnfinishedMessage', () => {
  it('counts a message until it is complete or its connection ends', () => {
    const { socket, message, budget } = aMessage();
    socket.bytesRead += 100_000;
    expect([message.check(), budget.total]).toEqual([true, 100_000]);
    socket.bytesRead += 100_000;
    expect([message.check(), budget.total]).toEqual([true, 200_000]);
    message.finished();
    expect([message.check(), budget.total]).toEqual([true, 0]);
    socket.bytesRead += 50_000;
    message.check();
    message.release();
    message.release();
    expect(budget.total).toBe(0);
  });

  it('is late after six checks, unless messages were completed in between', () => {
    const { socket, message } = aMessage();
    socket.bytesRead += 20_000;
    const checks = Array.from({ length: 7 }, () => message.check());
    expect(checks).toEqual([true, true, true, true, true, true, false]);
    message.finished();
    for (let round = 0; round < 20; round += 1) {
      socket.bytesRead += 20_000;
      expect(message.check()).toBe(true);
      message.finished();
    }
  });

  it('does not count control frames or small messages', () => {
    const { socket, message, budget } = aMessage();
    for (let round = 0; round < 10_000; round += 1) {
      socket.bytesRead += 6 + 100;
      message.control(100);
    }
    socket.bytesRead += 16_384;
    expect([message.check(), budget.total]).toEqual([true, 0]);
  });

  it('fails the check beyond the budget of the tenant', () => {
    const budget = new ByteBudget(100_000);
    const [one, two, other] = [aMessage(budget, 'a'), aMessage(budget, 'a'), aMessage(budget, 'b')];
    one.socket.bytesRead += 50_000;
    two.socket.bytesRead += 50_000;
    other.socket.bytesRead += 50_000;
    expect([one.message.check(), two.message.check(), other.message.check()]).toEqual([true, false, true]);
    one.message.release();
    expect(two.message.check()).toBe(true);
  });
});
