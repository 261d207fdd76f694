/**
 * The tests of fieldgate/mongoose with the real packages.
 *
 * @module
 */

import './finding.ts'
import './report.ts'
import './round-trips.ts'
import './rules.ts'
