/**
 * The tests of fieldgate/mongoose with the real packages.
 *
 * @module
 */

import './beside.ts'
import './finding.ts'
import './mixed.ts'
import './recursive.ts'
import './report.ts'
import './round-trips.ts'
import './rules.ts'
