import { expect, it } from 'vitest';
import { approvalLink } from './approval-link.ts';

it.each([
  ['https://board.test', 'default', 'https://board.test/ui/approvals?id=tc_1'],
  ['https://board.test', 'a&b', 'https://board.test/ui/approvals?id=tc_1&tenant=a%26b'],
  [null, 'default', null],
])('at %s in the tenant %s the link is %s', (origin, tenant, link) => {
  expect(approvalLink({ origin }, { id: 'tc_1', tenant })).toBe(link);
});
