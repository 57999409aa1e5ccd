import { CALL_FAILURES, type CallFailures } from './call-failures.ts';
import { COMMAND_REASONS, type CommandReasons } from './command-reasons.ts';
import { DECISION_REASONS, type DecisionReasons } from './decision-reasons.ts';
import { FAILURE_SUMMARIES, type FailureSummaries } from './failure-summaries.ts';
import { JSON_PROBLEMS, type JsonProblems } from './json-problems.ts';
import { OPENAPI_FAILURES, type OpenApiFailures } from './openapi-failures.ts';
import { MCP_UPSTREAM_FAILURES, type McpUpstreamFailures } from './mcp-upstream-failures.ts';
import { OPENAPI_PROBLEMS, type OpenApiProblems } from './openapi-problems.ts';
import { PARSE_PROBLEMS, type ParseProblems } from './parse-problems.ts';
import { POLICY_PROBLEMS, type PolicyProblems } from './policy-problems.ts';
import { QUERY_PROBLEMS, type QueryProblems } from './query-problems.ts';
import type { Sentences } from './reason.ts';
import { REGISTRATION_PROBLEMS, type RegistrationProblems } from './registration-problems.ts';
import { REQUEST_REFUSALS, type RequestRefusals } from './request-refusals.ts';
import { RESOURCE_PROBLEMS, type ResourceProblems } from './resource-problems.ts';
import { SCHEMA_ISSUES, type SchemaIssues } from './schema-issues.ts';
import { SCHEMA_PROBLEMS, type SchemaProblems } from './schema-problems.ts';
import { SDK_FAILURES, type SdkFailures } from './sdk-failures.ts';
import { SERVER_REFUSALS, type ServerRefusals } from './server-refusals.ts';
import { WORKSPACE_FAILURES, type WorkspaceFailures } from './workspace-failures.ts';
import { FILE_REFUSALS, type FileRefusals } from './file-refusals.ts';
import { PACK_FAILURES, type PackFailures } from './pack-failures.ts';
import { TOOL_REJECTIONS, type ToolRejections } from './tool-rejections.ts';
import { VALUE_PROBLEMS, type ValueProblems } from './value-problems.ts';

/** Every code with its parameters. A code is in one family. */
export interface ReasonParams
  extends
    FailureSummaries,
    DecisionReasons,
    CommandReasons,
    ParseProblems,
    JsonProblems,
    SchemaIssues,
    ValueProblems,
    SchemaProblems,
    PolicyProblems,
    RegistrationProblems,
    ToolRejections,
    OpenApiProblems,
    CallFailures,
    SdkFailures,
    PackFailures,
    OpenApiFailures,
    McpUpstreamFailures,
    FileRefusals,
    WorkspaceFailures,
    ServerRefusals,
    RequestRefusals,
    ResourceProblems,
    QueryProblems {}

export type ReasonCode = keyof ReasonParams;

/** The sentences of one language, of every code. */
export type ReasonSentences = Sentences<ReasonParams>;

export const ENGLISH: ReasonSentences = {
  ...FAILURE_SUMMARIES,
  ...DECISION_REASONS,
  ...COMMAND_REASONS,
  ...PARSE_PROBLEMS,
  ...JSON_PROBLEMS,
  ...SCHEMA_ISSUES,
  ...VALUE_PROBLEMS,
  ...SCHEMA_PROBLEMS,
  ...POLICY_PROBLEMS,
  ...REGISTRATION_PROBLEMS,
  ...TOOL_REJECTIONS,
  ...OPENAPI_PROBLEMS,
  ...CALL_FAILURES,
  ...SDK_FAILURES,
  ...PACK_FAILURES,
  ...OPENAPI_FAILURES,
  ...MCP_UPSTREAM_FAILURES,
  ...FILE_REFUSALS,
  ...WORKSPACE_FAILURES,
  ...SERVER_REFUSALS,
  ...REQUEST_REFUSALS,
  ...RESOURCE_PROBLEMS,
  ...QUERY_PROBLEMS,
};
