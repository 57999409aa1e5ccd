import type { ReasonSentences } from '@patchboard/wire';
import { callFailures } from './reasons/call-failures.ts';
import { commandReasons } from './reasons/command-reasons.ts';
import { decisionReasons } from './reasons/decision-reasons.ts';
import { failureSummaries } from './reasons/failure-summaries.ts';
import { fileRefusals } from './reasons/file-refusals.ts';
import { jsonProblems } from './reasons/json-problems.ts';
import { mcpUpstreamFailures } from './reasons/mcp-upstream-failures.ts';
import { openApiFailures } from './reasons/openapi-failures.ts';
import { openApiProblems } from './reasons/openapi-problems.ts';
import { packFailures } from './reasons/pack-failures.ts';
import { parseProblems } from './reasons/parse-problems.ts';
import { policyProblems } from './reasons/policy-problems.ts';
import { queryProblems } from './reasons/query-problems.ts';
import { registrationProblems } from './reasons/registration-problems.ts';
import { requestRefusals } from './reasons/request-refusals.ts';
import { resourceProblems } from './reasons/resource-problems.ts';
import { schemaIssues } from './reasons/schema-issues.ts';
import { schemaProblems } from './reasons/schema-problems.ts';
import { sdkFailures } from './reasons/sdk-failures.ts';
import { serverRefusals } from './reasons/server-refusals.ts';
import { toolRejections } from './reasons/tool-rejections.ts';
import { valueProblems } from './reasons/value-problems.ts';
import { workspaceFailures } from './reasons/workspace-failures.ts';

/**
 * Every reason in Chinese. Each file has the name of the English one in `packages/wire/src/reasons`. A code without its sentence
 * does not compile.
 */
export const reasonWords: ReasonSentences = {
  ...failureSummaries,
  ...decisionReasons,
  ...commandReasons,
  ...parseProblems,
  ...jsonProblems,
  ...schemaIssues,
  ...valueProblems,
  ...schemaProblems,
  ...policyProblems,
  ...registrationProblems,
  ...toolRejections,
  ...openApiProblems,
  ...callFailures,
  ...sdkFailures,
  ...packFailures,
  ...openApiFailures,
  ...mcpUpstreamFailures,
  ...fileRefusals,
  ...workspaceFailures,
  ...serverRefusals,
  ...requestRefusals,
  ...resourceProblems,
  ...queryProblems,
};
