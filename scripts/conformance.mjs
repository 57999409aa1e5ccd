// Installs the conformance suite of MCP. It runs before tests, never before a start.
import { installNestedPackage } from './nested-package.mjs';

installNestedPackage('interop/conformance');
