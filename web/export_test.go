package web

// Row is an operation as tests see it.
type Row struct {
	ID, Method, Path string
	Action           Action
	Or               []Action
	Status           int
	Errors           []int
}

// Rows returns the rows of the table.
func Rows() (all []Row) {
	for _, op := range operations() {
		all = append(all, Row{op.id, op.method, op.path, op.action, op.or, op.status, op.errors})
	}
	return all
}

// QuotaPrefix begins the ids of the leases of scopes.
const QuotaPrefix = quotaPrefix
