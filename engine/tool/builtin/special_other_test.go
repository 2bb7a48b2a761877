//go:build !unix

package builtin_test

import "errors"

func makePipe(string) error { return errors.ErrUnsupported }
